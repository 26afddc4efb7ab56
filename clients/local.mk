# SPDX-License-Identifier: LGPL-2.1-or-later
bin_PROGRAMS += numad-xen
noinst_LTLIBRARIES += libcli.la

# All of the client but main(), so that tests can link it.
libcli_la_SOURCES = \
	clients/numad-xen/command.h clients/numad-xen/commands.c \
	clients/numad-xen/commit.c \
	clients/numad-xen/display.c clients/numad-xen/display.h \
	clients/numad-xen/doctor.c clients/numad-xen/doctor.h \
	clients/numad-xen/doctor-machine.c \
	clients/numad-xen/doctor-status.c \
	clients/numad-xen/doctor-topology.c \
	clients/numad-xen/feed.c clients/numad-xen/feed.h \
	clients/numad-xen/feed-place.c \
	clients/numad-xen/gather.c \
	clients/numad-xen/number.c clients/numad-xen/number.h \
	clients/numad-xen/numastat.c \
	clients/numad-xen/options.c \
	clients/numad-xen/place.c clients/numad-xen/place.h \
	clients/numad-xen/place-options.c \
	clients/numad-xen/place-xl.c \
	clients/numad-xen/release.c \
	clients/numad-xen/render.c clients/numad-xen/render.h \
	clients/numad-xen/render-cores.c \
	clients/numad-xen/render-devices.c \
	clients/numad-xen/render-distances.c \
	clients/numad-xen/render-numastat.c \
	clients/numad-xen/render-placement.c \
	clients/numad-xen/render-reservations.c \
	clients/numad-xen/render-set.c \
	clients/numad-xen/render-status.c \
	clients/numad-xen/render-topology.c \
	clients/numad-xen/report.c clients/numad-xen/report.h \
	clients/numad-xen/reservations.c \
	clients/numad-xen/savefile.c clients/numad-xen/savefile.h \
	clients/numad-xen/screen.c clients/numad-xen/screen.h \
	clients/numad-xen/sim.c clients/numad-xen/sim.h \
	clients/numad-xen/sim-options.c \
	clients/numad-xen/status.c \
	clients/numad-xen/table.c clients/numad-xen/table.h \
	clients/numad-xen/token.c clients/numad-xen/token.h \
	clients/numad-xen/topology.c \
	clients/numad-xen/value.c clients/numad-xen/value.h \
	clients/numad-xen/view.c clients/numad-xen/view.h \
	clients/numad-xen/view-domain.c \
	clients/numad-xen/view-placement.c \
	clients/numad-xen/view-topology.c \
	clients/numad-xen/watch.c clients/numad-xen/watch.h
libcli_la_CPPFLAGS = $(AM_CPPFLAGS) -DDBUSSYSTEMDIR='"$(dbussystemdir)"'
libcli_la_CFLAGS = $(AM_CFLAGS) $(JSON_C_CFLAGS)
libcli_la_LIBADD = libcore.la libnumadxen.la $(JSON_C_LIBS) -lm

numad_xen_SOURCES = clients/numad-xen/main.c
numad_xen_LDADD = libcli.la

dist_man_MANS = man/numad-xen.1 man/numad-xend.8 man/numad-xend.conf.5

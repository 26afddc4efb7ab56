# SPDX-License-Identifier: LGPL-2.1-or-later

include daemon/source/xen.mk

# All of the daemon but main(), so that tests and benches link it.
noinst_LTLIBRARIES += libnumadxend.la
libnumadxend_la_SOURCES = \
	daemon/books.c daemon/books.h \
	daemon/clock.h \
	daemon/collector.c daemon/collector.h \
	daemon/count.h \
	daemon/ledger-store.c daemon/ledger-store.h \
	daemon/log.c daemon/log.h \
	daemon/manager.c daemon/manager.h \
	daemon/options.c daemon/options.h \
	daemon/placer.c daemon/placer.h \
	daemon/placer-batch.c \
	daemon/placer-call.c daemon/placer-call.h \
	daemon/settings.c daemon/settings.h \
	daemon/settings-parse.c \
	daemon/state.c daemon/state.h \
	daemon/turn.c daemon/turn.h \
	daemon/publish/bus.c daemon/publish/bus.h \
	daemon/publish/callers.c daemon/publish/callers.h \
	daemon/publish/documents.c daemon/publish/documents.h \
	daemon/publish/error.c daemon/publish/error.h \
	daemon/publish/gather.c daemon/publish/gather.h \
	daemon/publish/introspect.c daemon/publish/introspect.h \
	daemon/publish/limit.c daemon/publish/limit.h \
	daemon/publish/place.c daemon/publish/place.h \
	daemon/publish/place-reply.c daemon/publish/place-reply.h \
	daemon/publish/place-request.c daemon/publish/place-request.h \
	daemon/publish/read.c daemon/publish/read.h \
	daemon/publish/reply.c daemon/publish/reply.h \
	daemon/publish/request.c daemon/publish/request.h \
	daemon/publish/shown.h \
	daemon/publish/sim.c daemon/publish/sim.h \
	daemon/publish/sim-domain.c daemon/publish/sim-domain.h \
	daemon/publish/sim-fault.c daemon/publish/sim-fault.h \
	daemon/publish/sim-keys.c daemon/publish/sim-keys.h \
	daemon/publish/sim-token.c daemon/publish/sim-token.h \
	daemon/publish/vtable.c daemon/publish/vtable.h \
	daemon/source/sim.c daemon/source/sim.h \
	daemon/source/source.h \
	$(hwloc_files) $(xen_source_files)
libnumadxend_la_CPPFLAGS = $(AM_CPPFLAGS) -DSYSCONFDIR='"$(sysconfdir)"'
libnumadxend_la_CFLAGS = $(AM_CFLAGS) $(SYSTEMD_CFLAGS) $(HWLOC_CFLAGS) $(INIH_CFLAGS) $(XEN_CFLAGS)
libnumadxend_la_LIBADD = libcore.la $(SYSTEMD_LIBS) $(HWLOC_LIBS) $(INIH_LIBS) $(XEN_LIBS)
if WITH_XEN
libnumadxend_la_SOURCES += $(xen_libxc_files)
endif

sbin_PROGRAMS += daemon/numad-xend
daemon_numad_xend_SOURCES = daemon/main.c
daemon_numad_xend_CFLAGS = $(AM_CFLAGS)
daemon_numad_xend_LDADD = libnumadxend.la

# SPDX-License-Identifier: LGPL-2.1-or-later
noinst_LTLIBRARIES += libcore.la

# The pure core: no I/O, no clock, no logging. json-c only in the codecs that read.
libcore_la_SOURCES = \
	lib/core/acpitable.c lib/core/acpitable.h \
	lib/core/base.h \
	lib/core/base64.c lib/core/base64.h \
	lib/core/bitmap.c lib/core/bitmap.h \
	lib/core/firmware.c lib/core/firmware.h \
	lib/core/firmware-match.c lib/core/firmware-match.h \
	lib/core/account.c lib/core/account.h \
	lib/core/host-memory.c lib/core/host-memory.h \
	lib/core/hostdesc.c lib/core/hostdesc.h \
	lib/core/hostdesc-anonymize.c \
	lib/core/hostdesc-cpus.c \
	lib/core/hostdesc-devices.c \
	lib/core/hostdesc-domain.c \
	lib/core/hostdesc-firmware.c \
	lib/core/hostdesc-nodes.c \
	lib/core/hostdesc-parts.h \
	lib/core/hostdesc-pools.c \
	lib/core/hostdesc-tables.c lib/core/hostdesc-tables.h \
	lib/core/hostdesc-write.c lib/core/hostdesc-write.h \
	lib/core/hwlocxml.c lib/core/hwlocxml.h \
	lib/core/hwlocxml-object.c lib/core/hwlocxml-object.h \
	lib/core/hwlocxml-tree.c lib/core/hwlocxml-tree.h \
	lib/core/jsonreader.c lib/core/jsonreader.h \
	lib/core/jsonscan.c lib/core/jsonscan.h \
	lib/core/jsonwriter.c lib/core/jsonwriter.h \
	lib/core/ledger.c lib/core/ledger.h \
	lib/core/ledger-change.c \
	lib/core/ledger-draft.c lib/core/ledger-parts.h \
	lib/core/ledger-file.h \
	lib/core/ledger-read.c \
	lib/core/ledger-read-sets.c \
	lib/core/ledger-reconcile.c \
	lib/core/ledger-write.c \
	lib/core/locality.c lib/core/locality.h \
	lib/core/placed-sets.c lib/core/placed-sets.h \
	lib/core/placement.c lib/core/placement.h \
	lib/core/placement-aim.c \
	lib/core/placement-candidates.c \
	lib/core/placement-cores.c \
	lib/core/placement-document.c lib/core/placement-document.h \
	lib/core/placement-growth.c lib/core/placement-growth.h \
	lib/core/placement-nodes.c \
	lib/core/placement-parts.h \
	lib/core/placement-rank.c \
	lib/core/placement-reason.c \
	lib/core/placement-refusal.c \
	lib/core/placement-request.c lib/core/placement-request.h \
	lib/core/placement-result.c \
	lib/core/placement-sets.c \
	lib/core/placement-split.c \
	lib/core/placement-spread.c \
	lib/core/placement-vcpus.c \
	lib/core/policy.c lib/core/policy.h \
	lib/core/remote-host.c lib/core/remote-host.h \
	lib/core/reservation.c lib/core/reservation.h \
	lib/core/rows.c lib/core/rows.h \
	lib/core/seal.c lib/core/seal.h \
	lib/core/seal-topology.c lib/core/seal-topology.h \
	lib/core/sim-alloc.c lib/core/sim-alloc.h \
	lib/core/sim-balloon.c \
	lib/core/sim-domain.c \
	lib/core/sim-host.c lib/core/sim-host.h \
	lib/core/sim-memory.c \
	lib/core/sim-node.c lib/core/sim-node.h \
	lib/core/sim-parts.h \
	lib/core/slit.c lib/core/slit.h \
	lib/core/snapshot.c lib/core/snapshot.h \
	lib/core/srat.c lib/core/srat.h \
	lib/core/srat-nodes.c lib/core/srat-nodes.h \
	lib/core/stats.c lib/core/stats.h \
	lib/core/status.c lib/core/status.h \
	lib/core/text.c lib/core/text.h \
	lib/core/topology.c lib/core/topology.h \
	lib/core/utf8.c lib/core/utf8.h \
	lib/core/uuid.c lib/core/uuid.h \
	lib/core/warning.c lib/core/warning.h \
	lib/core/xmlwriter.c lib/core/xmlwriter.h \
	lib/io/capture.c lib/io/capture.h \
	lib/io/file.c lib/io/file.h
libcore_la_CFLAGS = $(AM_CFLAGS) $(JSON_C_CFLAGS)
libcore_la_LIBADD = $(JSON_C_LIBS) -lm

lib_LTLIBRARIES += libnumadxen.la
include_HEADERS = lib/client/numadxen.h
pkgconfigdir = $(libdir)/pkgconfig
nodist_pkgconfig_DATA = lib/client/numadxen.pc

libnumadxen_la_SOURCES = \
	lib/client/bus-error.c lib/client/bus-error.h \
	lib/client/call.c \
	lib/client/client.c lib/client/client.h \
	lib/client/numadxen.h \
	lib/client/place.c \
	lib/client/placement.c lib/client/placement.h \
	lib/client/ready.c lib/client/ready.h \
	lib/client/remote.c lib/client/remote.h \
	lib/client/request.c lib/client/request.h \
	lib/client/sim.c \
	lib/core/bitmap.c lib/core/bitmap.h \
	lib/core/jsonwriter.c lib/core/jsonwriter.h \
	lib/core/remote-host.c lib/core/remote-host.h \
	lib/core/text.c lib/core/text.h \
	lib/core/utf8.c lib/core/utf8.h
libnumadxen_la_CFLAGS = $(AM_CFLAGS) $(SYSTEMD_CFLAGS)
libnumadxen_la_LIBADD = $(SYSTEMD_LIBS) -lm
libnumadxen_la_LDFLAGS = -version-info 0:0:0 -Wl,--version-script=$(top_srcdir)/lib/client/numadxen.map -Wl,-z,defs
EXTRA_libnumadxen_la_DEPENDENCIES = lib/client/numadxen.map
EXTRA_DIST += lib/client/numadxen.map

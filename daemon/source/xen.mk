# SPDX-License-Identifier: LGPL-2.1-or-later

# The Xen source. All of it but the calls into Xen's libraries builds, and is tested, without them.
xen_source_files = \
	daemon/source/dmabits.c daemon/source/dmabits.h \
	daemon/source/xen.c daemon/source/xen.h \
	daemon/source/xen-affinities.c \
	daemon/source/xen-calls.h \
	daemon/source/xen-domains.c \
	daemon/source/xen-heap.c \
	daemon/source/xen-low.c \
	daemon/source/xen-names.c \
	daemon/source/xen-report.c \
	daemon/source/xen-source.h \
	daemon/source/xen-topology.c

# Only with Xen; needs $(XEN_CFLAGS) and $(XEN_LIBS).
xen_libxc_files = \
	daemon/source/xen-calls-libxc.c \
	daemon/source/xen-dom0.c

# Needs $(HWLOC_CFLAGS) and $(HWLOC_LIBS).
hwloc_files = daemon/source/hwloc.c daemon/source/hwloc.h

# With the lists above and libcore; no Xen needed.
xen_unit_tests = \
	tests/unit/test-xen-dmabits \
	tests/unit/test-xen-source

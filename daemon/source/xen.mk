# SPDX-License-Identifier: LGPL-2.1-or-later

# The Xen source. All of it but the calls into Xen's libraries builds, and is tested, without them.
xen_source_files = \
	daemon/source/acpi.c daemon/source/acpi.h \
	daemon/source/dmabits.c daemon/source/dmabits.h \
	daemon/source/pci.c daemon/source/pci.h \
	daemon/source/xen.c daemon/source/xen.h \
	daemon/source/xen-affinities.c \
	daemon/source/xen-calls.h \
	daemon/source/xen-devices.c \
	daemon/source/xen-dom0.c \
	daemon/source/xen-domains.c \
	daemon/source/xen-firmware.c \
	daemon/source/xen-heap.c \
	daemon/source/xen-low.c \
	daemon/source/xen-memory.c \
	daemon/source/xen-names.c \
	daemon/source/xen-pools.c \
	daemon/source/xen-report.c \
	daemon/source/xen-source.h \
	daemon/source/xen-topology.c

# Only with Xen; needs $(XEN_CFLAGS) and $(XEN_LIBS).
xen_libxc_files = \
	daemon/source/xen-calls-libxc.c \
	daemon/source/xen-calls-store.c daemon/source/xen-calls-store.h \
	daemon/source/xen-open.c

# Needs $(HWLOC_CFLAGS) and $(HWLOC_LIBS).
hwloc_files = daemon/source/hwloc.c daemon/source/hwloc.h

# The source on a Xen that is a few arrays; these need neither Xen nor its libraries.
xen_unit_tests = \
	tests/unit/test-xen-churn \
	tests/unit/test-xen-devices \
	tests/unit/test-xen-dmabits \
	tests/unit/test-xen-dom0 \
	tests/unit/test-xen-domains \
	tests/unit/test-xen-failures \
	tests/unit/test-xen-faults \
	tests/unit/test-xen-heap \
	tests/unit/test-xen-live \
	tests/unit/test-xen-memory \
	tests/unit/test-xen-read-faults \
	tests/unit/test-xen-read-memory \
	tests/unit/test-xen-topology
check_PROGRAMS += $(xen_unit_tests)
TESTS += $(xen_unit_tests)

xen_oracle_files = \
	tests/unit/xen-host.c tests/unit/xen-host.h \
	tests/unit/xen-oracle.c tests/unit/xen-oracle.h

noinst_LTLIBRARIES += libfakexen.la
libfakexen_la_SOURCES = \
	tests/unit/fake-xen.c tests/unit/fake-xen-heap.c tests/unit/fake-xen-host.c tests/unit/fake-xen.h tests/unit/unit.h \
	$(xen_source_files)
libfakexen_la_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
libfakexen_la_LIBADD = libcore.la $(CMOCKA_LIBS)

tests_unit_test_xen_churn_SOURCES = tests/unit/test-xen-churn.c $(xen_oracle_files)
tests_unit_test_xen_churn_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(JSON_C_CFLAGS)
tests_unit_test_xen_churn_LDADD = libfakexen.la $(CMOCKA_LIBS) $(JSON_C_LIBS)
tests_unit_test_xen_devices_SOURCES = tests/unit/test-xen-devices.c
tests_unit_test_xen_devices_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_xen_devices_LDADD = libfakexen.la $(CMOCKA_LIBS)
tests_unit_test_xen_dmabits_SOURCES = tests/unit/test-xen-dmabits.c
tests_unit_test_xen_dmabits_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_xen_dmabits_LDADD = libfakexen.la $(CMOCKA_LIBS)
tests_unit_test_xen_domains_SOURCES = tests/unit/test-xen-domains.c
tests_unit_test_xen_domains_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_xen_domains_LDADD = libfakexen.la $(CMOCKA_LIBS)
tests_unit_test_xen_failures_SOURCES = tests/unit/test-xen-failures.c
tests_unit_test_xen_failures_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_xen_failures_LDADD = libfakexen.la $(CMOCKA_LIBS)
tests_unit_test_xen_faults_SOURCES = tests/unit/test-xen-faults.c $(xen_oracle_files)
tests_unit_test_xen_faults_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(JSON_C_CFLAGS)
tests_unit_test_xen_faults_LDADD = libfakexen.la $(CMOCKA_LIBS) $(JSON_C_LIBS)
tests_unit_test_xen_heap_SOURCES = tests/unit/test-xen-heap.c
tests_unit_test_xen_heap_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_xen_heap_LDADD = libfakexen.la $(CMOCKA_LIBS)
tests_unit_test_xen_live_SOURCES = tests/unit/test-xen-live.c $(xen_oracle_files)
tests_unit_test_xen_live_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(JSON_C_CFLAGS)
tests_unit_test_xen_live_LDADD = libfakexen.la $(CMOCKA_LIBS) $(JSON_C_LIBS)
tests_unit_test_xen_memory_SOURCES = tests/unit/test-xen-memory.c $(xen_oracle_files)
tests_unit_test_xen_memory_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(JSON_C_CFLAGS)
tests_unit_test_xen_memory_LDFLAGS = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=reallocarray,--wrap=free \
	-Wl,--wrap=strdup,--wrap=strndup,--wrap=asprintf,--wrap=vasprintf,--wrap=__asprintf_chk,--wrap=__vasprintf_chk
tests_unit_test_xen_memory_LDADD = libfakexen.la $(CMOCKA_LIBS) $(JSON_C_LIBS)
tests_unit_test_xen_read_faults_SOURCES = tests/unit/test-xen-read-faults.c tests/unit/xen-host.c tests/unit/xen-host.h
tests_unit_test_xen_read_faults_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_xen_read_faults_LDADD = libfakexen.la $(CMOCKA_LIBS)
tests_unit_test_xen_read_memory_SOURCES = tests/unit/test-xen-read-memory.c $(xen_oracle_files)
tests_unit_test_xen_read_memory_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(JSON_C_CFLAGS)
tests_unit_test_xen_read_memory_LDADD = libfakexen.la $(CMOCKA_LIBS) $(JSON_C_LIBS)
tests_unit_test_xen_topology_SOURCES = tests/unit/test-xen-topology.c
tests_unit_test_xen_topology_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_xen_topology_LDADD = libfakexen.la $(CMOCKA_LIBS)
tests_unit_test_xen_dom0_SOURCES = tests/unit/test-xen-dom0.c
tests_unit_test_xen_dom0_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_xen_dom0_LDADD = libfakexen.la $(CMOCKA_LIBS)

if WITH_XEN
noinst_PROGRAMS += tests/system/xencollect
tests_system_xencollect_SOURCES = tests/system/xencollect.c
tests_system_xencollect_CFLAGS = $(AM_CFLAGS)
tests_system_xencollect_LDADD = libnumadxend.la
endif

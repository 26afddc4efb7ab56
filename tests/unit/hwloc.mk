# SPDX-License-Identifier: LGPL-2.1-or-later
# What hwloc itself makes of the XML, and of dom0.
hwloc_tests = \
	tests/unit/test-hwlocxml \
	tests/unit/test-hwloc-view
check_PROGRAMS += $(hwloc_tests)
TESTS += $(hwloc_tests) tests/golden/hwloc
EXTRA_DIST += tests/golden/hwloc

tests_unit_test_hwlocxml_SOURCES = tests/unit/test-hwlocxml.c tests/unit/hwloc-facts.c tests/unit/hwloc-facts.h \
	$(unit_headers)
tests_unit_test_hwlocxml_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(HWLOC_CFLAGS)
tests_unit_test_hwlocxml_LDADD = libcore.la $(CMOCKA_LIBS) $(HWLOC_LIBS)
tests_unit_test_hwloc_view_SOURCES = tests/unit/test-hwloc-view.c daemon/source/hwloc.c $(unit_headers)
tests_unit_test_hwloc_view_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(HWLOC_CFLAGS)
tests_unit_test_hwloc_view_LDADD = libcore.la $(CMOCKA_LIBS) $(HWLOC_LIBS)

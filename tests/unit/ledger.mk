# SPDX-License-Identifier: LGPL-2.1-or-later
# The ledger, its file and the directory that it is kept in.
ledger_tests = \
	tests/unit/test-ledger \
	tests/unit/test-ledger-file \
	tests/unit/test-ledger-reconcile \
	tests/unit/test-ledger-short \
	tests/unit/test-ledger-store \
	tests/unit/test-reservation \
	tests/unit/test-state
check_PROGRAMS += $(ledger_tests)
TESTS += $(ledger_tests)
ledger_headers = tests/unit/ledger.h tests/unit/unit.h

tests_unit_test_ledger_SOURCES = tests/unit/test-ledger.c $(ledger_headers)
tests_unit_test_ledger_file_SOURCES = tests/unit/test-ledger-file.c $(ledger_headers)
tests_unit_test_ledger_reconcile_SOURCES = tests/unit/test-ledger-reconcile.c $(ledger_headers)
tests_unit_test_ledger_short_SOURCES = tests/unit/test-ledger-short.c $(ledger_headers)
tests_unit_test_ledger_short_LDFLAGS = -Wl,--wrap=calloc -Wl,--wrap=realloc -Wl,--wrap=strdup
tests_unit_test_ledger_store_SOURCES = tests/unit/test-ledger-store.c tests/unit/directory.h $(ledger_headers)
tests_unit_test_ledger_store_CFLAGS = $(daemon_unit_cflags)
tests_unit_test_ledger_store_LDADD = $(daemon_unit_ldadd)
tests_unit_test_reservation_SOURCES = tests/unit/test-reservation.c $(ledger_headers)
tests_unit_test_state_SOURCES = tests/unit/test-state.c tests/unit/directory.h tests/unit/unit.h
tests_unit_test_state_CFLAGS = $(daemon_unit_cflags)
tests_unit_test_state_LDADD = $(daemon_unit_ldadd)

noinst_PROGRAMS += tests/bench/ledger
tests_bench_ledger_SOURCES = tests/bench/ledger.c

# Kills the daemon at every call that changes a file or answers; the library is preloaded into it.
TESTS += tests/integration/test-crash.py
EXTRA_DIST += tests/integration/test-crash.py
noinst_LTLIBRARIES += tests/integration/crash.la
tests_integration_crash_la_SOURCES = tests/integration/crash.c
tests_integration_crash_la_CFLAGS = $(AM_CFLAGS) -fno-sanitize=all
tests_integration_crash_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere

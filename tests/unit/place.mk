# SPDX-License-Identifier: LGPL-2.1-or-later
# The proof of the placement engine: random hosts and requests, an oracle, and what has to hold.
check_LTLIBRARIES = libplacecase.la
libplacecase_la_SOURCES = \
	tests/unit/place-case.c tests/unit/place-case.h \
	tests/unit/place-check.c tests/unit/place-check.h \
	tests/unit/place-check-vcpus.c \
	tests/unit/place-draw-host.c \
	tests/unit/place-draw-request.c \
	tests/unit/place-oracle.c tests/unit/place-oracle.h \
	tests/unit/place-oracle-search.c
libplacecase_la_LIBADD = libcore.la -lm

place_tests = \
	tests/unit/test-place-optimal \
	tests/unit/test-place-oracle \
	tests/unit/test-place-properties \
	tests/unit/test-place-sim
check_PROGRAMS += $(place_tests)
TESTS += $(place_tests)
place_files = tests/unit/place-rounds.c tests/unit/place-rounds.h $(unit_headers)
tests_unit_test_place_optimal_SOURCES = tests/unit/test-place-optimal.c $(place_files)
tests_unit_test_place_optimal_LDADD = libplacecase.la $(CMOCKA_LIBS)
tests_unit_test_place_oracle_SOURCES = tests/unit/test-place-oracle.c tests/unit/hostdesc.h $(unit_headers)
tests_unit_test_place_oracle_LDADD = libplacecase.la $(CMOCKA_LIBS)
tests_unit_test_place_properties_SOURCES = tests/unit/test-place-properties.c $(place_files)
tests_unit_test_place_properties_LDADD = libplacecase.la $(CMOCKA_LIBS)
tests_unit_test_place_sim_SOURCES = tests/unit/test-place-sim.c $(place_files)
tests_unit_test_place_sim_LDADD = libplacecase.la $(CMOCKA_LIBS)

fuzz_tests += tests/fuzz/fuzz-placement
tests_fuzz_fuzz_placement_SOURCES = tests/fuzz/fuzz-placement.c $(fuzz_files)
tests_fuzz_fuzz_placement_LDADD = libplacecase.la
tests_fuzz_fuzz_placement_LDFLAGS = $(fuzz_flags)

noinst_PROGRAMS += tests/bench/decisions
tests_bench_decisions_SOURCES = tests/bench/decisions.c

# SPDX-License-Identifier: LGPL-2.1-or-later
# Every test speaks TAP; the driver counts each line of it.
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
TEST_EXTENSIONS = .py
PY_LOG_COMPILER = python3
PY_LOG_DRIVER = $(LOG_DRIVER)
AM_TESTS_ENVIRONMENT = \
	export CMOCKA_MESSAGE_OUTPUT=TAP PYTHONDONTWRITEBYTECODE=1; \
	export NX_SRCDIR='$(abs_top_srcdir)' NX_BUILDDIR='$(abs_top_builddir)' PYTHONPATH='$(abs_top_srcdir)/tests';

unit_tests = \
	tests/unit/test-account \
	tests/unit/test-acpi \
	tests/unit/test-base64 \
	tests/unit/test-bitmap \
	tests/unit/test-firmware \
	tests/unit/test-firmware-mismatch \
	tests/unit/test-hostdesc \
	tests/unit/test-hostdesc-refused \
	tests/unit/test-hostdesc-tables \
	tests/unit/test-hostdesc-write \
	tests/unit/test-json \
	tests/unit/test-locality \
	tests/unit/test-placement \
	tests/unit/test-placement-document \
	tests/unit/test-placement-kinds \
	tests/unit/test-placement-split \
	tests/unit/test-seal \
	tests/unit/test-sim-changes \
	tests/unit/test-sim-host \
	tests/unit/test-sim-rules \
	tests/unit/test-slit \
	tests/unit/test-srat \
	tests/unit/test-text \
	tests/unit/test-writers
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)

LDADD = libcore.la $(CMOCKA_LIBS) $(JSON_C_LIBS)
tests_unit_test_account_SOURCES = tests/unit/test-account.c $(unit_headers)
tests_unit_test_acpi_SOURCES = tests/unit/test-acpi.c $(table_headers)
tests_unit_test_acpi_LDADD = libfakexen.la $(CMOCKA_LIBS)
tests_unit_test_base64_SOURCES = tests/unit/test-base64.c $(unit_headers)
tests_unit_test_bitmap_SOURCES = tests/unit/test-bitmap.c $(unit_headers)
tests_unit_test_firmware_SOURCES = tests/unit/test-firmware.c $(table_headers)
tests_unit_test_firmware_mismatch_SOURCES = tests/unit/test-firmware-mismatch.c $(table_headers)
tests_unit_test_hostdesc_SOURCES = tests/unit/test-hostdesc.c tests/unit/hostdesc.h $(unit_headers)
tests_unit_test_hostdesc_refused_SOURCES = tests/unit/test-hostdesc-refused.c tests/unit/hostdesc.h $(unit_headers)
tests_unit_test_hostdesc_tables_SOURCES = tests/unit/test-hostdesc-tables.c tests/unit/tables.h $(unit_headers)
tests_unit_test_hostdesc_write_SOURCES = tests/unit/test-hostdesc-write.c $(unit_headers)
tests_unit_test_json_SOURCES = tests/unit/test-json.c tests/unit/unit.h
tests_unit_test_locality_SOURCES = tests/unit/test-locality.c $(unit_headers)
tests_unit_test_placement_SOURCES = tests/unit/test-placement.c $(placing_headers)
tests_unit_test_placement_document_SOURCES = tests/unit/test-placement-document.c $(placing_headers)
tests_unit_test_placement_kinds_SOURCES = tests/unit/test-placement-kinds.c $(placing_headers)
tests_unit_test_placement_split_SOURCES = tests/unit/test-placement-split.c $(placing_headers)
tests_unit_test_seal_SOURCES = tests/unit/test-seal.c $(unit_headers)
tests_unit_test_sim_changes_SOURCES = tests/unit/test-sim-changes.c $(sim_headers)
tests_unit_test_sim_host_SOURCES = tests/unit/test-sim-host.c $(sim_headers)
tests_unit_test_sim_rules_SOURCES = tests/unit/test-sim-rules.c $(sim_headers)
tests_unit_test_slit_SOURCES = tests/unit/test-slit.c $(table_headers)
tests_unit_test_srat_SOURCES = tests/unit/test-srat.c $(table_headers)
tests_unit_test_text_SOURCES = tests/unit/test-text.c $(unit_headers)
tests_unit_test_writers_SOURCES = tests/unit/test-writers.c $(unit_headers)
unit_headers = tests/unit/unit.h tests/unit/host.h
placing_headers = tests/unit/placing.h $(unit_headers)
sim_headers = tests/unit/sim.h tests/unit/hostdesc.h $(unit_headers)
table_headers = tests/unit/unit.h tests/unit/tables.h tests/unit/firmware-host.h

# Fuzz targets, tests/fuzz/fuzz-NAME.c. They replay their corpus, tests/fuzz/corpus/NAME; configured with
# --enable-fuzzer they are libFuzzer's programs, which scripts/fuzz runs.
fuzz_tests = \
	tests/fuzz/fuzz-cpulist \
	tests/fuzz/fuzz-hostdesc \
	tests/fuzz/fuzz-ledger \
	tests/fuzz/fuzz-settings \
	tests/fuzz/fuzz-slit \
	tests/fuzz/fuzz-srat
tests_fuzz_fuzz_cpulist_SOURCES = tests/fuzz/fuzz-cpulist.c $(fuzz_files)
tests_fuzz_fuzz_cpulist_LDFLAGS = $(fuzz_flags)
tests_fuzz_fuzz_hostdesc_SOURCES = tests/fuzz/fuzz-hostdesc.c $(fuzz_files)
tests_fuzz_fuzz_hostdesc_LDFLAGS = $(fuzz_flags)
tests_fuzz_fuzz_ledger_SOURCES = tests/fuzz/fuzz-ledger.c $(fuzz_files)
tests_fuzz_fuzz_ledger_LDFLAGS = $(fuzz_flags)
tests_fuzz_fuzz_settings_SOURCES = tests/fuzz/fuzz-settings.c daemon/settings.c daemon/settings-parse.c $(fuzz_files)
tests_fuzz_fuzz_settings_CFLAGS = $(AM_CFLAGS) $(INIH_CFLAGS)
tests_fuzz_fuzz_settings_LDADD = libcore.la $(INIH_LIBS)
tests_fuzz_fuzz_settings_LDFLAGS = $(fuzz_flags)
tests_fuzz_fuzz_slit_SOURCES = tests/fuzz/fuzz-slit.c $(fuzz_files)
tests_fuzz_fuzz_slit_LDFLAGS = $(fuzz_flags)
tests_fuzz_fuzz_srat_SOURCES = tests/fuzz/fuzz-srat.c $(fuzz_files)
tests_fuzz_fuzz_srat_LDFLAGS = $(fuzz_flags)
check_PROGRAMS += $(fuzz_tests)
if WITH_FUZZER
fuzz_files = tests/fuzz/fuzz.h
fuzz_flags = -fsanitize=fuzzer
else
fuzz_files = tests/fuzz/fuzz.h tests/fuzz/replay.c
TESTS += $(fuzz_tests)
endif
EXTRA_DIST += tests/fuzz/hostdesc.dict tests/fuzz/ledger.dict tests/fuzz/settings.dict tests/fuzz/srat.dict
fuzz-programs: $(fuzz_tests)
.PHONY: fuzz-programs

noinst_PROGRAMS += tests/bench/json
tests_bench_json_SOURCES = tests/bench/json.c
noinst_PROGRAMS += tests/bench/dispatches
tests_bench_dispatches_SOURCES = tests/bench/dispatches.c
tests_bench_dispatches_CFLAGS = $(AM_CFLAGS) $(SYSTEMD_CFLAGS)
tests_bench_dispatches_LDADD = libnumadxend.la $(SYSTEMD_LIBS)
tests_bench_dispatches_LDFLAGS = -Wl,--wrap=sd_event_loop

tree_tests = tests/tree/cases tests/tree/headers tests/tree/layers tests/tree/symbols
TESTS += $(tree_tests)

check-headers check-layers check-symbols: all
	@$(AM_TESTS_ENVIRONMENT) $(top_srcdir)/tests/tree/$(@:check-%=%)
check-patches:
	@$(top_srcdir)/hypervisor-patches/check
.PHONY: check-headers check-layers check-symbols check-patches

EXTRA_DIST += tests/CASES.md tests/tap.py $(tree_tests) proto/xen_numa_heap.h
include tests/integration/local.mk
include tests/golden/local.mk
include tests/unit/hwloc.mk
include tests/unit/ledger.mk
include tests/unit/place.mk

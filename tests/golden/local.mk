# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests of the client: what it prints, whole; what it does with a terminal; its parts.
cli_tests = \
	tests/golden/run \
	tests/golden/terminal \
	tests/golden/values
TESTS += $(cli_tests)
EXTRA_DIST += \
	$(cli_tests) \
	tests/golden/cli \
	tests/golden/README.md \
	tests/golden/field \
	tests/golden/generated.py \
	tests/golden/layout.py \
	tests/golden/placements.py \
	tests/golden/hosts

cli_unit_tests = \
	tests/unit/test-cli-display \
	tests/unit/test-cli-options \
	tests/unit/test-cli-place \
	tests/unit/test-cli-render
check_PROGRAMS += $(cli_unit_tests)
TESTS += $(cli_unit_tests)

tests_unit_test_cli_display_SOURCES = tests/unit/test-cli-display.c tests/unit/unit.h
tests_unit_test_cli_display_CFLAGS = $(AM_CFLAGS) $(JSON_C_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_cli_display_LDADD = libcli.la $(CMOCKA_LIBS)
tests_unit_test_cli_options_SOURCES = tests/unit/test-cli-options.c tests/unit/unit.h
tests_unit_test_cli_options_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_cli_options_LDADD = libcli.la $(CMOCKA_LIBS)
tests_unit_test_cli_place_SOURCES = tests/unit/test-cli-place.c tests/unit/unit.h
tests_unit_test_cli_place_CFLAGS = $(AM_CFLAGS) $(JSON_C_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_cli_place_LDADD = libcli.la $(CMOCKA_LIBS) $(JSON_C_LIBS)
tests_unit_test_cli_render_SOURCES = tests/unit/test-cli-render.c tests/unit/unit.h
tests_unit_test_cli_render_CFLAGS = $(AM_CFLAGS) $(JSON_C_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_cli_render_LDADD = libcli.la $(CMOCKA_LIBS) $(JSON_C_LIBS)

client_tests = \
	tests/integration/test-cli.py \
	tests/integration/test-gather.py \
	tests/integration/test-library.py \
	tests/integration/test-names.py \
	tests/integration/test-schema.py
TESTS += $(client_tests)
EXTRA_DIST += $(client_tests) tests/integration/fakedaemon.py tests/schema.py
check_PROGRAMS += tests/integration/ask tests/integration/verdict
tests_integration_ask_SOURCES = tests/integration/ask.c
tests_integration_ask_LDADD = libnumadxen.la
tests_integration_verdict_SOURCES = tests/integration/verdict.c

# SPDX-License-Identifier: LGPL-2.1-or-later
integration_tests = \
	tests/integration/test-access.py \
	tests/integration/test-cli-place.py \
	tests/integration/test-client.py \
	tests/integration/test-introspect.py \
	tests/integration/test-life.py \
	tests/integration/test-notify.py \
	tests/integration/test-place-domains.py \
	tests/integration/test-place-gather.py \
	tests/integration/test-place-refused.py \
	tests/integration/test-place-sim.py \
	tests/integration/test-place.py \
	tests/integration/test-read.py \
	tests/integration/test-reload.py \
	tests/integration/test-remote.py \
	tests/integration/test-settings.py \
	tests/integration/test-sim.py \
	tests/integration/test-state.py
TESTS += $(integration_tests)
EXTRA_DIST += $(integration_tests) tests/integration/minibus.py tests/integration/placing.py \
	tests/integration/world.py

daemon_unit_tests = \
	tests/unit/test-collector \
	tests/unit/test-limit \
	tests/unit/test-placer \
	tests/unit/test-remote \
	tests/unit/test-settings
check_PROGRAMS += $(daemon_unit_tests)
TESTS += $(daemon_unit_tests)
daemon_unit_cflags = $(AM_CFLAGS) $(SYSTEMD_CFLAGS) $(CMOCKA_CFLAGS)
daemon_unit_ldadd = libnumadxend.la $(CMOCKA_LIBS) $(SYSTEMD_LIBS)

tests_unit_test_collector_SOURCES = tests/unit/test-collector.c tests/unit/unit.h
tests_unit_test_collector_CFLAGS = $(daemon_unit_cflags)
tests_unit_test_collector_LDADD = $(daemon_unit_ldadd)
tests_unit_test_limit_SOURCES = tests/unit/test-limit.c tests/unit/unit.h
tests_unit_test_limit_CFLAGS = $(daemon_unit_cflags)
tests_unit_test_limit_LDADD = $(daemon_unit_ldadd)
tests_unit_test_placer_SOURCES = tests/unit/test-placer.c tests/unit/unit.h tests/unit/host.h
tests_unit_test_placer_CFLAGS = $(daemon_unit_cflags)
tests_unit_test_placer_LDADD = $(daemon_unit_ldadd)
tests_unit_test_remote_SOURCES = tests/unit/test-remote.c tests/unit/unit.h lib/client/ready.c lib/client/remote.c
tests_unit_test_remote_CFLAGS = $(daemon_unit_cflags)
tests_unit_test_remote_LDADD = libcore.la $(CMOCKA_LIBS) $(SYSTEMD_LIBS)
tests_unit_test_settings_SOURCES = tests/unit/test-settings.c tests/unit/unit.h
tests_unit_test_settings_CFLAGS = $(daemon_unit_cflags)
tests_unit_test_settings_LDADD = $(daemon_unit_ldadd)

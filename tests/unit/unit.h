/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What cmocka needs before its own header. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

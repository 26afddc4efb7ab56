/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The host description in the folder of a capture. */
#define CAPTURE_FILE "host.json"

/*
 * Where the host description is that somebody named: `path` itself, or, when that is a folder, the file of the
 * capture in it. Owned; NULL when memory is short.
 */
char *capture_find(const char *path);

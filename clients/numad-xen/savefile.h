/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lib/core/base.h"

#define SAVE_E_FOLDER 1 /* the folder could not be made or opened: see *ret_error */
#define SAVE_E_EXISTS 2 /* something of that name is in the folder, be it a link that leads nowhere */
/*
 * Writes a file that nobody but its owner can read, in a folder that is made (its owner's alone) where there is none.
 * Replaces nothing and follows no symbolic link, neither the folder nor in it. Either the whole file is there and on
 * the disk, or none, nor a folder that was made for it. 0, -errno of the writing, or SAVE_E_* with the errno in *ret_error.
 */
int save_file(const char *folder, const char *name, const char *text, size_t size, int *ret_error);

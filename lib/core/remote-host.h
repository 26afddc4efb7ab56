/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What is wrong with it as the [USER@]HOST of an ssh command line; NULL: nothing. Only plain names pass: nothing that
 * ssh would take for an option, or a shell for more than a word, on either side.
 */
const char *remote_host_fault(const char *host);

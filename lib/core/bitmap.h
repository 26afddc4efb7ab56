/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "text.h"

/*
 * A set of small numbers (CPUs, nodes) of any size. A zeroed Bitmap is the empty set. Bits above those ever set
 * read as 0, so sets of different width can be compared and combined.
 */
typedef struct Bitmap {
    uint64_t *words;
    size_t n_words;
} Bitmap;

void bitmap_done(Bitmap *b);
#define _cleanup_bitmap_ _cleanup_(bitmap_done)

/* All of these that can fail return 0 or -ENOMEM and leave the set as it was. */
int bitmap_set(Bitmap *b, unsigned bit);
int bitmap_set_range(Bitmap *b, unsigned low, unsigned high); /* low..high, both included */
int bitmap_copy(Bitmap *to, const Bitmap *from);
int bitmap_and(Bitmap *to, const Bitmap *a, const Bitmap *b); /* to may be a or b */
int bitmap_or(Bitmap *to, const Bitmap *from);
/* From little-endian bytes as hypercalls return them (bit 0 of byte 0 is number 0). */
int bitmap_from_bytes(Bitmap *to, const uint8_t *bytes, size_t n_bytes);

void bitmap_clear(Bitmap *b, unsigned bit);
void bitmap_cut(Bitmap *b, unsigned n_bits); /* keeps 0..n_bits-1 */
bool bitmap_isset(const Bitmap *b, unsigned bit);
bool bitmap_isempty(const Bitmap *b);
bool bitmap_equal(const Bitmap *a, const Bitmap *b);
unsigned bitmap_weight(const Bitmap *b);
unsigned bitmap_weight_and(const Bitmap *a, const Bitmap *b); /* size of the intersection */

/* First member at or above `from`; UINT_MAX when there is none. */
unsigned bitmap_next(const Bitmap *b, unsigned from);
#define BITMAP_FOREACH(i, b) for (unsigned i = bitmap_next((b), 0); i != UINT32_MAX; i = bitmap_next((b), i + 1))

/* Canonical text: "0-3,8"; "" for the empty set. */
void bitmap_print(const Bitmap *b, Text *text);
/* The same as a new string. NULL when memory is short. Free with free(). */
char *bitmap_to_text(const Bitmap *b);

#define BITMAP_E_SYNTAX 1   /* not a list of numbers and ranges */
#define BITMAP_E_RANGE 2    /* a number above `highest` */
#define BITMAP_E_BACKWARD 3 /* a range whose end is below its beginning */
/* Reads "0-3,8" (and ""); the old contents are replaced on success only. 0, -ENOMEM or BITMAP_E_*. */
int bitmap_parse(Bitmap *b, const char *text, unsigned highest);

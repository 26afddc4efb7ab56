/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "text.h"

/*
 * XML 1.0 in UTF-8, an element a line. A zeroed writer is ready; running out of memory shows in text_take(). Values
 * may hold any valid UTF-8: what XML cannot hold becomes U+FFFD.
 */
typedef struct XmlWriter {
    Text text;
    unsigned depth;
    bool in_tag;     /* the '>' of the last element is not written yet */
    bool in_content; /* the last element has text and no elements */
} XmlWriter;

void xmlw_begin(XmlWriter *w, const char *element);
void xmlw_end(XmlWriter *w, const char *element);
/* Attributes follow xmlw_begin(). `raw` is written as it is. */
void xmlw_attribute(XmlWriter *w, const char *name, const char *value);
void xmlw_attribute_u64(XmlWriter *w, const char *name, uint64_t value);
void xmlw_attribute_raw(XmlWriter *w, const char *name, const Text *raw);
/* The whole content of an element, as it is; xmlw_end() follows. */
void xmlw_content_raw(XmlWriter *w, const Text *raw);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "slit.h"

#include "acpitable.h"

#define SLIT_LOCALITIES 36 /* offset of their number, 64 bits */
#define SLIT_CONTENT 44

/* How many localities there are; 0: none that can be read. */
static unsigned read_localities(const uint8_t *bytes, size_t end, Text *fault)
{
    uint64_t n = acpi_u64(bytes + SLIT_LOCALITIES);

    if (n == 0 || n > NODES_MAX) {
        acpi_fault(fault, "it has %" PRIu64 " localities, and %u can be", n, NODES_MAX);
        return 0;
    }
    if (n * n > end - SLIT_CONTENT) { /* n is small by now */
        acpi_fault(fault, "%" PRIu64 " %s need%s %" PRIu64 " distance%s, and it has room for %zu", n,
                   slit_localities(n), n == 1 ? "s" : "", n * n, plural(n * n), end - SLIT_CONTENT);
        return 0;
    }
    return (unsigned)n;
}

int slit_parse(const uint8_t *bytes, size_t size, Slit *ret_slit)
{
    _cleanup_text_ Text fault = {0};
    size_t end = acpi_check_header(bytes, size, "SLIT", SLIT_CONTENT, &fault);
    unsigned n = end ? read_localities(bytes, end, &fault) : 0;
    int r;

    *ret_slit = (Slit){0};
    r = acpi_take_fault(&fault, &ret_slit->fault);
    if (r < 0 || n == 0)
        return r;
    ret_slit->distances = new_array((size_t)n * n, 1);
    if (!ret_slit->distances) {
        slit_done(ret_slit);
        return -ENOMEM;
    }
    memcpy(ret_slit->distances, bytes + SLIT_CONTENT, (size_t)n * n);
    ret_slit->n = n;
    return 0;
}

void slit_done(Slit *slit)
{
    free(slit->distances);
    free(slit->fault);
    *slit = (Slit){0};
}

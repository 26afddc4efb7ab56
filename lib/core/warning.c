/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "warning.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const code_texts[_WARNING_MAX] = {
    [WARNING_SLIT_INVALID] = "slit-invalid",
    [WARNING_SLIT_ASYMMETRIC] = "slit-asymmetric",
    [WARNING_SLIT_FLAT] = "slit-flat",
    [WARNING_SLIT_MISMATCH] = "slit-mismatch",
    [WARNING_SRAT_INVALID] = "srat-invalid",
    [WARNING_SRAT_MISMATCH] = "srat-mismatch",
    [WARNING_DISTANCE_UNREACHABLE] = "distance-unreachable",
    [WARNING_NODE_OFFLINE] = "node-offline",
    [WARNING_DOM0_VIEW_DIFFERS] = "dom0-view-differs",
    [WARNING_CPU_NODE_CONFLICT] = "cpu-node-conflict",
    [WARNING_PATCH_MISSING] = "patch-missing",
    [WARNING_NOT_PERMITTED] = "not-permitted",
    [WARNING_FREE_ABOVE_SIZE] = "free-above-size",
    [WARNING_SOURCE_FAILED] = "source-failed",
    [WARNING_LEDGER_LOST] = "ledger-lost",
};

const char *warning_code_to_text(WarningCode code)
{
    return code_texts[code];
}

void warning_list_done(WarningList *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->items[i].text);
    free(list->items);
    *list = (WarningList){0};
}

bool warning_list_has_item(const WarningList *list, WarningCode code, const char *text)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].code == code && strcmp(list->items[i].text, text) == 0)
            return true;
    return false;
}

int warning_list_add(WarningList *list, WarningCode code, const char *format, ...)
{
    _cleanup_free_ char *text = NULL;
    Warning *items;
    va_list ap;
    int r;

    va_start(ap, format);
    r = vasprintf(&text, format, ap);
    va_end(ap);
    if (r < 0) {
        text = NULL;
        return -ENOMEM;
    }
    if (warning_list_has_item(list, code, text))
        return 0;
    items = reallocarray(list->items, list->n + 1, sizeof(*items));
    if (!items)
        return -ENOMEM;
    list->items = items;
    items[list->n++] = (Warning){.code = code, .text = TAKE_PTR(text)};
    return 0;
}

int warning_list_add_all(WarningList *list, const WarningList *from)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < from->n; i++)
        r = warning_list_add(list, from->items[i].code, "%s", from->items[i].text);
    return r;
}

bool warning_list_has(const WarningList *list, WarningCode code)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].code == code)
            return true;
    return false;
}

int warning_patch_missing(WarningList *list)
{
    return warning_list_add(list, WARNING_PATCH_MISSING,
                            "this Xen cannot tell on which nodes a domain's memory is (it has no XENMEM_numa_heap, or "
                            "another version of it); boot a hypervisor built with the series in hypervisor-patches/");
}

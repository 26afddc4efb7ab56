/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A 32-bit PV guest of a few instructions: calls XENMEM_numa_heap through Xen's compat path, prints
 * the results on Xen's console (a debug Xen lets guests do so) and powers off.
 *
 *   compat32: numa_heap -1 other -38 version -95 fault -14 command -22
 *
 * -1 is EPERM: the call came through, and a guest may not make it. -38 (ENOSYS) is what a number
 * that Xen does not know gives.
 */
#include <stddef.h>
#include <stdint.h>

#include "xen_numa_heap.h"

enum { CALL_MEMORY_OP = 12, CALL_CONSOLE_IO = 18, CALL_SCHED_OP = 29, SCHEDOP_SHUTDOWN = 2 };

/* What Xen's domain builder must know: elfnote.h's numbers, a string or an address each. */
#define NOTE_HEAD(type, size) ".align 4\n.long 4, " size ", " #type "\n.asciz \"Xen\"\n"
#define NOTE_TEXT(type, text) NOTE_HEAD(type, "7f - 6f") "6:.asciz \"" text "\"\n7:\n"
#define NOTE_ADDRESS(type, address) NOTE_HEAD(type, "4") ".long " #address "\n"

asm(".pushsection .note.Xen, \"a\", @note\n"
    NOTE_ADDRESS(1, _start)         /* ENTRY */
    NOTE_ADDRESS(2, hypercall_page) /* HYPERCALL_PAGE */
    NOTE_ADDRESS(3, 0)              /* VIRT_BASE */
    NOTE_ADDRESS(4, 0)              /* PADDR_OFFSET */
    NOTE_TEXT(5, "xen-3.0")         /* XEN_VERSION */
    NOTE_TEXT(6, "compat32")        /* GUEST_OS */
    NOTE_TEXT(8, "generic")         /* LOADER */
    NOTE_TEXT(9, "yes")             /* PAE_MODE */
    ".popsection\n"
    ".pushsection .text\n"
    ".align 4096\n"
    "hypercall_page: .fill 4096, 1, 0xcc\n"
    ".global _start\n"
    "_start: movl $stack_end, %esp\n"
    "call guest\n"
    ".popsection\n"
    ".pushsection .bss\n"
    ".align 16\n"
    ".fill 4096, 1, 0\n"
    "stack_end:\n"
    ".popsection\n");

extern const char hypercall_page[];

static long hypercall(unsigned int number, unsigned long a, unsigned long b, unsigned long c)
{
    const char *entry = hypercall_page + number * 32;
    long rc;

    asm volatile("call *%[entry]"
                 : "=a"(rc), "+b"(a), "+c"(b), "+d"(c)
                 : [entry] "0"(entry)
                 : "memory", "esi", "edi");
    return rc;
}

static char line[128];
static unsigned int length;

static void put(const char *text)
{
    while (*text)
        line[length++] = *text++;
}

static void put_result(const char *name, long rc)
{
    char digits[12], *p = digits + sizeof(digits);
    unsigned long value = rc < 0 ? -rc : rc;

    *--p = '\0';
    do
        *--p = '0' + value % 10;
    while (value /= 10);
    put(name);
    put(rc < 0 ? " -" : " ");
    put(p);
}

static long numa_heap(uint32_t version, unsigned long command)
{
    static uint64_t records[64];
    static struct xen_numa_heap arg;

    arg = (struct xen_numa_heap){
        .version = version,
        .op = XEN_NUMA_HEAP_NODES,
        .nr_records = 8,
        .buffer.align = (uintptr_t)records,
    };
    return hypercall(CALL_MEMORY_OP, command, (uintptr_t)&arg, 0);
}

__attribute__((noreturn, used)) void guest(void)
{
    const unsigned long unmapped = 0xf0000000;
    static uint32_t poweroff;

    put("compat32:");
    put_result(" numa_heap", numa_heap(XEN_NUMA_HEAP_VERSION, XENMEM_numa_heap));
    put_result(" other", numa_heap(XEN_NUMA_HEAP_VERSION, XENMEM_numa_heap + 1));
    put_result(" version", numa_heap(XEN_NUMA_HEAP_VERSION + 1, XENMEM_numa_heap));
    put_result(" fault", hypercall(CALL_MEMORY_OP, XENMEM_numa_heap, unmapped, 0));
    put_result(" command", numa_heap(XEN_NUMA_HEAP_VERSION, XENMEM_numa_heap | 1 << 6));
    put("\n");
    hypercall(CALL_CONSOLE_IO, 0, length, (uintptr_t)line);
    for (;;)
        hypercall(CALL_SCHED_OP, SCHEDOP_SHUTDOWN, (uintptr_t)&poweroff, 0);
}

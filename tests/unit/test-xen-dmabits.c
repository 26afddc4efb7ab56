/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/source/dmabits.h"
#include "tests/unit/unit.h"

#define MIB_PAGES(n) ((uint64_t)(n) << 8)

static void test_commandline(void **state)
{
    static const struct {
        const char *text;
        unsigned width;
    } cases[] = {
        {"", 0},
        {"   ", 0},
        {"placeholder dom0_mem=2G", 0},
        {"dma_bits=30", 30},
        {"  dom0_mem=2G dma_bits=30  loglvl=all", 30},
        {"dma_bits=0x1e", 30},
        {"dma_bits=036", 30},
        {"dma_bits=30 dma_bits=28", 28},
        {"dma_bits=30 dma_bits=0", 0},
        {"dma_bits=30 dma_bits=99999999999", 30}, /* does not fit: the first stays */
        {"dma_bits=30junk", 30},
        {"dma_bits=junk", 0},
        {"dma_bits=", 0},
        {"dma_bits=-1", DMA_BITS_ALL},
        {"dma_bits=4294967295", DMA_BITS_ALL},
        {"xdma_bits=30", 0},
        {"dma_bits", 0},
        {"note=\"dma_bits=30\"", 0},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_int_equal(dma_bits_from_commandline(cases[i].text), cases[i].width);
}

/* An option longer than Xen's buffer is cut, and does not reach over ours. */
static void test_long_option(void **state)
{
    char text[4096] = "dma_bits=";

    for (size_t i = 9; i < sizeof(text) - 1; i++)
        text[i] = '0';
    text[200] = '9';
    assert_int_equal(dma_bits_from_commandline(text), 0);
}

static void test_node(void **state)
{
    static const struct {
        uint64_t start, span; /* pages */
        unsigned width;
    } cases[] = {
        {0, MIB_PAGES(2048), 29}, /* 2 GiB: the lab's node 0; 512 MiB set aside */
        {0, MIB_PAGES(2049), 30},
        {0, MIB_PAGES(3072), 30},
        {0, MIB_PAGES(4096), 30},
        {0, MIB_PAGES(6144), 31},
        {0, MIB_PAGES(16384), 32},
        {0, MIB_PAGES(262144), 32}, /* never above 32 */
        {MIB_PAGES(2048), MIB_PAGES(2048), 32},
        {MIB_PAGES(1024), MIB_PAGES(1024), 31},
        {0, 4, 12}, /* one page, and pfn 0 has no bits */
        {0, 8, 13},
        {0, 0, 32}, /* -1 in Xen as well */
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_int_equal(dma_bits_from_node(cases[i].start, cases[i].span), cases[i].width);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commandline),
        cmocka_unit_test(test_long_option),
        cmocka_unit_test(test_node),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

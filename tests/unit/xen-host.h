/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/unit/fake-xen.h"

/*
 * A fake host that has something of everything: two pools, a free CPU, an offline one, four domains, more devices than
 * fit in a call, a firmware table. On a stock Xen (`patched` false) XENMEM_numa_heap tells pages only, so that `low`
 * is looked for.
 */
FakeXen *xen_host_new(bool patched);
/* Everything changes that can: memory, CPUs, pools, nodes of devices; one domain ends, one begins. */
void xen_host_change(FakeXen *fake);

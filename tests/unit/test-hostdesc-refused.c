/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/hostdesc.h"

/* Every refusal, with its path and its reason, whole. */

#define NO_DISTANCE "must be a whole number from 0 to 4294967295, or -1 or 18446744073709551615 for unreachable"

typedef struct Case {
    const char *text, *error;
} Case;

static void assert_refused(const char *json, size_t size, const char *wanted)
{
    HostRows *rows = NULL;
    _cleanup_free_ char *error = NULL;
    int r = hostdesc_parse(json, size, &rows, &error);

    if (r != HOSTDESC_E_REFUSED)
        fail_msg("%s: %d, wanted '%s'", json, r, wanted);
    assert_null(rows);
    if (strcmp(error, wanted) != 0)
        fail_msg("%s: got '%s', wanted '%s'", json, error, wanted);
}

static void assert_all_refused(const Case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        _cleanup_free_ char *json = json_of(cases[i].text);

        assert_refused(json, strlen(json), cases[i].error);
    }
}

static void test_head(void **state)
{
    static const Case cases[] = {
        {"", "not JSON: line 1, column 1: the text ends too early"},
        {"[]", "must be an object"},
        {"null", "must be an object"},
        {NODES(NODE) "x", "not JSON: line 1, column 69: something follows the document"},
        {"{'nodes':[" NODE "]}", "format: must be \"numad-xen-host/1\""},
        {"{'format':null,'nodes':[" NODE "]}", "format: must be \"numad-xen-host/1\""},
        {"{'format':1,'nodes':[" NODE "]}", "format: must be a text"},
        {"{'format':'numad-xen-host/2','nodes':[" NODE "]}", "format: must be \"numad-xen-host/1\""},
        {"{'format':'numad-xen-status/1'}", "format: must be \"numad-xen-host/1\""},
        {MORE("'colour':1"), "colour: unknown key"},
        {MORE("'nodes':[]"), "nodes: is there twice"},
        {MORE("'xen_version':417"), "xen_version: must be a text"},
        {MORE("'xen_version':'4\\u0000'"), "xen_version: holds a zero byte"},
        {MORE("'page_size':0"), "page_size: must be a power of two"},
        {MORE("'page_size':4095"), "page_size: must be a power of two"},
        {MORE("'page_size':2147483648"), "page_size: is 2147483648, above 1073741824"},
        {MORE("'page_size':-4096"), "page_size: must be a whole number from 0 to 1073741824"},
        {MORE("'features':'claims'"), "features: must be an array"},
        {MORE("'features':[1]"), "features[0]: must be a text"},
        {MORE("'features':['magic']"), "features[0]: unknown feature 'magic'"},
        {MORE("'features':['claims','claims']"), "features[1]: 'claims' is named twice"},
        {MORE("'memory':1"), "memory: must be an object"},
        {MORE("'memory':{'used':1}"), "memory.used: unknown key"},
        {MORE("'memory':{'total':72057594037927937}"), "memory.total: is 72057594037927937, above 72057594037927936"},
        {MORE("'memory':{'free':-1}"), "memory.free: must be a whole number from 0 to 72057594037927936"},
        {MORE("'memory':{'claimed':0.5}"), "memory.claimed: must be a whole number from 0 to 72057594037927936"},
        {MORE("'dom0':[]"), "dom0: must be an object"},
        {MORE("'dom0':{'nodes':1}"), "dom0: needs both nodes and cpus"},
        {MORE("'dom0':{'nodes':1,'cpus':null}"), "dom0: needs both nodes and cpus"},
        {MORE("'dom0':{'nodes':1025,'cpus':1}"), "dom0.nodes: is 1025, above 1024"},
        {MORE("'dom0':{'nodes':1,'cpus':8193}"), "dom0.cpus: is 8193, above 8192"},
        {MORE("'dom0':{'nodes':1,'cpus':1,'x':1}"), "dom0.x: unknown key"},
        {MORE("'srat':1"), "srat: must be a text"},
        {MORE("'srat':'U1JBVA='"), "srat: is not base64"},
        {MORE("'slit':'U0xJ VA=='"), "slit: is not base64"},
        {MORE("'slit':'=='"), "slit: is not base64"},
    };

    assert_all_refused(cases, ARRAY_SIZE(cases));
}

static void test_nodes(void **state)
{
    static const Case cases[] = {
        {HEAD "'features':[]}", "nodes: is missing: at least one node with size and free is needed"},
        {HEAD "'nodes':null}", "nodes: is missing: at least one node with size and free is needed"},
        {HEAD "'nodes':{}}", "nodes: must be an array"},
        {NODES(""), "nodes: is empty: at least one node is needed"},
        {NODES("1"), "nodes[0]: must be an object"},
        {NODES(NODE ",null"), "nodes[1]: must be an object"},
        {NODES("{}"), "nodes[0]: needs both size and free"},
        {NODES("{'size':1}"), "nodes[0]: needs both size and free"},
        {NODES("{'free':1}"), "nodes[0]: needs both size and free"},
        {NODES("{'size':null,'free':1}"), "nodes[0]: needs both size and free"},
        {NODES("{'size':1,'free':1,'x':1}"), "nodes[0].x: unknown key"},
        {NODES("{'size':1,'free':1,'free':1}"), "nodes[0].free: is there twice"},
        {NODES("{'size':-1,'free':1}"), "nodes[0].size: must be a whole number from 0 to 72057594037927936"},
        {NODES("{'size':1.0,'free':1}"), "nodes[0].size: must be a whole number from 0 to 72057594037927936"},
        {NODES("{'size':1e3,'free':1}"), "nodes[0].size: must be a whole number from 0 to 72057594037927936"},
        {NODES("{'size':'1','free':1}"), "nodes[0].size: must be a whole number from 0 to 72057594037927936"},
        {NODES("{'size':true,'free':1}"), "nodes[0].size: must be a whole number from 0 to 72057594037927936"},
        {NODES("{'size':-0,'free':1}"), "nodes[0].size: -0 is no whole number"},
        {NODES("{'size':72057594037927937,'free':1}"), "nodes[0].size: is 72057594037927937, above 72057594037927936"},
        {NODES("{'size':18446744073709551615,'free':1}"),
         "nodes[0].size: is 18446744073709551615, above 72057594037927936"},
        {NODES("{'size':18446744073709551616,'free':1}"),
         "nodes[0].size: must be a whole number that 64 bits hold, not 18446744073709551616"},
        {NODES("{'size':1,'free':72057594037927937}"), "nodes[0].free: is 72057594037927937, above 72057594037927936"},
        {NODES("{'size':4294967295,'free':'0'}"), "nodes[0].free: must be a number"},
        {NODES("{'size':1,'free':1,'distances':{}}"), "nodes[0].distances: must be an array"},
        {NODES("{'size':1,'free':1,'distances':[]}"), "nodes[0].distances: has 0 entries for 1 nodes"},
        {NODES("{'size':1,'free':1,'distances':[10,20]}"), "nodes[0].distances: has 2 entries for 1 nodes"},
        {NODES("{'size':1,'free':1,'distances':[10,20]}," NODE),
         "nodes: 1 of 2 nodes have distances: all or none must"},
        {NODES("{'size':1,'free':1,'distances':[10,20]},{'size':1,'free':1,'distances':null}"),
         "nodes: 1 of 2 nodes have distances: all or none must"},
        {NODES("{'size':1,'free':1,'distances':[10,20,20]}," NODE ",{'size':4294967295,'distances':[10,20,20]}"),
         "nodes: 1 of 2 nodes have distances: all or none must"},
        {NODES("{'size':4294967295,'distances':7}"), "nodes[0].distances: must be an array"},
        {NODES("{'size':4294967295},{'size':1,'free':1,'distances':['20',10]}"),
         "nodes[1].distances[0]: must be a number"},
        {NODES("{'size':4294967295},{'size':1,'free':1,'distances':[null,10]}"),
         "nodes[1].distances[0]: must be a number"},
        {NODES("{'size':1,'free':1,'distances':[null]}"), "nodes[0].distances[0]: " NO_DISTANCE},
        {NODES("{'size':1,'free':1,'distances':[-2]}"), "nodes[0].distances[0]: " NO_DISTANCE},
        {NODES("{'size':1,'free':1,'distances':[10.5]}"), "nodes[0].distances[0]: " NO_DISTANCE},
        {NODES("{'size':1,'free':1,'distances':['10']}"), "nodes[0].distances[0]: " NO_DISTANCE},
        {NODES("{'size':1,'free':1,'distances':[4294967296]}"), "nodes[0].distances[0]: " NO_DISTANCE},
        {NODES("{'size':1,'free':1,'distances':[18446744073709551614]}"), "nodes[0].distances[0]: " NO_DISTANCE},
        {NODES("{'size':1,'free':1,'distances':[20,10]},{'size':1,'free':1,'distances':[10,-3]}"),
         "nodes[1].distances[1]: " NO_DISTANCE},
        {NODES("{'size':1,'free':1,'distances':[18446744073709551616]}"),
         "nodes[0].distances[0]: must be a whole number that 64 bits hold, not 18446744073709551616"},
        {MORE("'node_extra':{}"), "node_extra: must be an array"},
        {MORE("'node_extra':[null]"), "node_extra[0]: must be an object"},
        {MORE("'node_extra':[{},{},{}]"), "node_extra: has 3 elements, more than 2"},
        {MORE("'node_extra':[{},{'x':1}]"), "node_extra[1].x: unknown key"},
        {MORE("'node_extra':[{'present':-1}]"),
         "node_extra[0].present: must be a whole number from 0 to 72057594037927936"},
        {MORE("'node_extra':[{'low':'1'}]"), "node_extra[0].low: must be a whole number from 0 to 72057594037927936"},
        {MORE("'node_extra':[{'dirty':1.5}]"),
         "node_extra[0].dirty: must be a whole number from 0 to 72057594037927936"},
        {MORE("'node_extra':[{'claimed':72057594037927937}]"),
         "node_extra[0].claimed: is 72057594037927937, above 72057594037927936"},
        {MORE("'node_extra':[{'free_chunks':1}]"), "node_extra[0].free_chunks: must be an array"},
        {MORE("'node_extra':[{'free_chunks':[1,null]}]"),
         "node_extra[0].free_chunks[1]: must be a whole number from 0 to 72057594037927936"},
    };

    assert_all_refused(cases, ARRAY_SIZE(cases));
}

static void test_cpus(void **state)
{
    static const Case cases[] = {
        {NODES("{'size':1,'free':1,'cpus':0}"), "nodes[0].cpus: must be a text"},
        {NODES("{'size':1,'free':1,'cpus':'3-1'}"), "nodes[0].cpus: '3-1' has a backward range"},
        {NODES("{'size':1,'free':1,'cpus':'8192'}"), "nodes[0].cpus: '8192' names a number above 8191"},
        {NODES("{'size':1,'free':1,'cpus':'0-9000'}"), "nodes[0].cpus: '0-9000' names a number above 8191"},
        {NODES("{'size':1,'free':1,'cpus':'99999999999999999999'}"),
         "nodes[0].cpus: '99999999999999999999' names a number above 8191"},
        {NODES("{'size':1,'free':1,'cpus':'1,'}"), "nodes[0].cpus: '1,' is not a list like \"0-3,8\""},
        {NODES("{'size':1,'free':1,'cpus':' 1'}"), "nodes[0].cpus: ' 1' is not a list like \"0-3,8\""},
        {NODES("{'size':1,'free':1,'cpus':'-1'}"), "nodes[0].cpus: '-1' is not a list like \"0-3,8\""},
        {NODES("{'size':1,'free':1,'cpus':'^1'}"), "nodes[0].cpus: '^1' is not a list like \"0-3,8\""},
        {NODES("{'size':1,'free':1,'cpus':'0x1'}"), "nodes[0].cpus: '0x1' is not a list like \"0-3,8\""},
        {NODES("{'size':1,'free':1,'cpus':'0'},{'size':1,'free':1,'cpus':'0'}"), "nodes[1].cpus: CPU 0 is named twice"},
        {MORE("'topology':[]"), "nodes[0].cpus: cannot be used together with topology"},
        {MORE("'topology':{}"), "topology: must be an array"},
        {MORE("'threads_per_core':0"), "threads_per_core: must be at least 1"},
        {MORE("'threads_per_core':8193"), "threads_per_core: is 8193, above 8192"},
        {MORE("'topology':[1]"), "topology[0]: must be an object"},
        {MORE("'topology':[{'core':1}]"), "topology[0]: needs a cpu"},
        {MORE("'topology':[{'cpu':8192}]"), "topology[0].cpu: is 8192, above 8191"},
        {MORE("'topology':[{'cpu':1,'die':0}]"), "topology[0].die: unknown key"},
        {MORE("'topology':[{'cpu':1,'core':-1}]"), "topology[0].core: must be a whole number from 0 to 4294967295"},
        {MORE("'topology':[{'cpu':1,'socket':4294967296}]"), "topology[0].socket: is 4294967296, above 4294967295"},
        {MORE("'topology':[{'cpu':1,'node':'0'}]"), "topology[0].node: must be a whole number from 0 to 4294967295"},
        {MORE("'topology':[{'cpu':1},{'cpu':1}]"), "topology[1]: CPU 1 is named twice"},
        {MORE("'max_cpu_id':2"), "max_cpu_id: is 2, but CPU 3 is named"},
        {MORE("'max_cpu_id':8192"), "max_cpu_id: is 8192, above 8191"},
        {MORE("'pools':{}"), "pools: must be an array"},
        {MORE("'pools':[{}]"), "pools[0]: needs a pool"},
        {MORE("'pools':[{'pool':null,'cpus':'0'}]"), "pools[0]: needs a pool"},
        {MORE("'pools':[{'pool':4294967295,'cpus':'0'}]"), "pools[0].pool: is 4294967295, above 4294967294"},
        {MORE("'pools':[{'pool':0,'name':'x'}]"), "pools[0].name: unknown key"},
        {MORE("'pools':[{'pool':0,'cpus':[0]}]"), "pools[0].cpus: must be a text"},
        {MORE("'pools':[{'pool':0,'cpus':'4'}]"), "pools[0].cpus: '4' names a number above 3"},
        {MORE("'pools':[{'pool':5,'cpus':''},{'pool':0},{'pool':5,'cpus':'0'}]"), "pools: pool 5 is named twice"},
        {MORE("'pools':[{'pool':0,'cpus':'0-1'},{'pool':1,'cpus':'1-2'}]"),
         "pools[1].cpus: holds CPUs of another pool"},
    };

    assert_all_refused(cases, ARRAY_SIZE(cases));
}

static void test_devices(void **state)
{
    static const Case cases[] = {
        {MORE("'devices':{}"), "devices: must be an array"},
        {MORE("'devices':[1]"), "devices[0]: must be an object"},
        {MORE("'devices':[{}]"), "devices[0]: needs a pci address"},
        {MORE("'devices':[{'pci':''}]"), "devices[0].pci: '' is not an address like 0000:3b:00.0"},
        {MORE("'devices':[{'pci':'3b:00.0'}]"), "devices[0].pci: '3b:00.0' is not an address like 0000:3b:00.0"},
        {MORE("'devices':[{'pci':'0000:3b:20.0'}]"),
         "devices[0].pci: '0000:3b:20.0' is not an address like 0000:3b:00.0"},
        {MORE("'devices':[{'pci':'0000:3b:00.8'}]"),
         "devices[0].pci: '0000:3b:00.8' is not an address like 0000:3b:00.0"},
        {MORE("'devices':[{'pci':'0000:3g:00.0'}]"),
         "devices[0].pci: '0000:3g:00.0' is not an address like 0000:3b:00.0"},
        {MORE("'devices':[{'pci':'0000-3b:00.0'}]"),
         "devices[0].pci: '0000-3b:00.0' is not an address like 0000:3b:00.0"},
        {MORE("'devices':[{'pci':'0000:3b:00.0 '}]"),
         "devices[0].pci: '0000:3b:00.0 ' is not an address like 0000:3b:00.0"},
        {MORE("'devices':[{'pci':'0000:3b:00.0','name':'x'}]"), "devices[0].name: unknown key"},
        {MORE("'devices':[{'pci':'0000:3b:00.0','node':-1}]"),
         "devices[0].node: must be a whole number from 0 to 4294967295"},
        {MORE("'devices':[{'pci':'0000:3b:00.0'},{'pci':'0000:3b:00.0'}]"), "devices: 0000:3b:00.0 is named twice"},
        {MORE("'devices':[{'pci':'0000:3b:00.0'},{'pci':'0000:AF:00.0'},{'pci':'0000:3B:00.0'}]"),
         "devices: 0000:3b:00.0 is named twice"},
    };

    assert_all_refused(cases, ARRAY_SIZE(cases));
}

static void test_domains(void **state)
{
    static const Case cases[] = {
        {MORE("'domains':{}"), "domains: must be an array"},
        {MORE("'domains':[null]"), "domains[0]: must be an object"},
        {MORE("'domains':[{}]"), "domains[0]: needs a domid"},
        {MORE("'domains':[{'domid':32752}]"), "domains[0].domid: is 32752, above 32751"},
        {MORE("'domains':[{'domid':-1}]"), "domains[0].domid: must be a whole number from 0 to 32751"},
        {MORE("'domains':[{'domid':1},{'domid':0},{'domid':1}]"), "domains[2]: domid 1 is named twice"},
        {DOMAIN("'memory':1"), "domains[0].memory: unknown key"},
        {DOMAIN("'domid':1"), "domains[0].domid: is there twice"},
        {DOMAIN("'name':1"), "domains[0].name: must be a text"},
        {DOMAIN("'name':'a\\u0000b'"), "domains[0].name: holds a zero byte"},
        {DOMAIN("'uuid':'12'"), "domains[0].uuid: '12' is not a UUID"},
        {DOMAIN("'uuid':'00112233-4455-6677-8899-aabbccddeef'"),
         "domains[0].uuid: '00112233-4455-6677-8899-aabbccddeef' is not a UUID"},
        {DOMAIN("'uuid':'00112233-4455-6677-8899-aabbccddeefff'"),
         "domains[0].uuid: '00112233-4455-6677-8899-aabbccddeefff' is not a UUID"},
        {DOMAIN("'uuid':'0011223344556677-8899-aabb-ccddeeff'"),
         "domains[0].uuid: '0011223344556677-8899-aabb-ccddeeff' is not a UUID"},
        {DOMAIN("'type':'xen'"), "domains[0].type: 'xen' is none of pv, pvh, hvm"},
        {DOMAIN("'state':'idle'"),
         "domains[0].state: 'idle' is none of running, blocked, paused, shutdown, crashed, dying"},
        {DOMAIN("'total_pages':17592186044417"), "domains[0].total_pages: is 17592186044417, above 17592186044416"},
        {DOMAIN("'total_pages':1.5"), "domains[0].total_pages: must be a whole number from 0 to 17592186044416"},
        {DOMAIN("'max_pages':-1"), "domains[0].max_pages: must be a whole number from 0 to 18446744073709551615"},
        {DOMAIN("'node_pages':{}"), "domains[0].node_pages: must be an array"},
        {DOMAIN("'node_pages':[]"), "domains[0].node_pages: has 0 entries for 2 nodes"},
        {DOMAIN("'node_pages':[1]"), "domains[0].node_pages: has 1 entries for 2 nodes"},
        {DOMAIN("'node_pages':[1,2,3]"), "domains[0].node_pages: has 3 elements, more than 2"},
        {DOMAIN("'node_pages':[1,null]"), "domains[0].node_pages[1]: must be a whole number from 0 to 17592186044416"},
        {DOMAIN("'node_pages':[1,17592186044417]"),
         "domains[0].node_pages[1]: is 17592186044417, above 17592186044416"},
        {DOMAIN("'pool':1"), "domains[0].pool: there is no pool 1"},
        {MORE("'pools':[{'pool':7,'cpus':'0-3'}],'domains':[{'domid':1}]"), "domains[0].pool: there is no pool 0"},
        {DOMAIN("'node_affinity':1"), "domains[0].node_affinity: must be a text"},
        {DOMAIN("'node_affinity':'0-2'"), "domains[0].node_affinity: '0-2' names a number above 1"},
        {DOMAIN("'node_affinity':'1-0'"), "domains[0].node_affinity: '1-0' has a backward range"},
        {DOMAIN("'vcpus':1"), "domains[0].vcpus: must be an array"},
        {DOMAIN("'vcpus':[1]"), "domains[0].vcpus[0]: must be an object"},
        {DOMAIN("'vcpus':[{},null]"), "domains[0].vcpus: 1 of 2 are null: all or none must"},
        {DOMAIN("'vcpus':[{},{'x':1}]"), "domains[0].vcpus[1].x: unknown key"},
        {DOMAIN("'vcpus':[{'hard':1}]"), "domains[0].vcpus[0].hard: must be a text"},
        {DOMAIN("'vcpus':[{'hard':'0-8192'}]"), "domains[0].vcpus[0].hard: '0-8192' names a number above 8191"},
        {DOMAIN("'vcpus':[{'soft':'a'}]"), "domains[0].vcpus[0].soft: 'a' is not a list like \"0-3,8\""},
        {DOMAIN("'vcpus':[{'online':1}]"), "domains[0].vcpus[0].online: must be true or false"},
        {DOMAIN("'vcpus':[{'cpu':4}]"), "domains[0].vcpus[0].cpu: is 4, above 3"},
        {DOMAIN("'vcpus':[{'cpu':'0'}]"), "domains[0].vcpus[0].cpu: must be a whole number from 0 to 3"},
    };

    assert_all_refused(cases, ARRAY_SIZE(cases));
}

/* "[x,x,x,x]" of n elements in place of the first ? of a description. */
static void assert_count(const char *quoted, const char *element, size_t n, const char *error)
{
    _cleanup_text_ Text text = {0};
    _cleanup_free_ char *json = NULL, *why = NULL;
    const char *mark = strchr(quoted, '?');
    HostRows *rows = NULL;

    text_add_bytes(&text, quoted, (size_t)(mark - quoted));
    for (size_t i = 0; i < n; i++) {
        text_add(&text, i ? "," : "");
        text_printf(&text, element, i);
    }
    text_add(&text, mark + 1);
    json = json_of(text.data);
    if (error) {
        assert_refused(json, strlen(json), error);
        return;
    }
    if (hostdesc_parse(json, strlen(json), &rows, &why) != 0)
        fail_msg("%zu times %s: %s", n, element, why);
    host_rows_free(rows);
}

static void test_limits(void **state)
{
    assert_count(NODES("?"), NODE, 1024, NULL);
    assert_count(NODES("?"), NODE, 1025, "nodes: has 1025 elements, more than 1024");
    assert_count(MORE("'domains':[?]"), "{'domid':%zu}", 32752, NULL);
    assert_count(MORE("'domains':[?]"), "{'domid':%zu}", 32753, "domains: has 32753 elements, more than 32752");
    assert_count(DOMAIN("'vcpus':[?]"), "{}", 8192, NULL);
    assert_count(DOMAIN("'vcpus':[?]"), "{}", 8193, "domains[0].vcpus: has 8193 elements, more than 8192");
    assert_count(MORE("'node_extra':[{'free_chunks':[?]}]"), "%zu", 64, NULL);
    assert_count(MORE("'node_extra':[{'free_chunks':[?]}]"), "%zu", 65,
                 "node_extra[0].free_chunks: has 65 elements, more than 64");
    assert_count(HEAD "'nodes':[" NODE "],'topology':[?]}", "{'cpu':%zu}", 8192, NULL);
    assert_count(HEAD "'nodes':[" NODE "],'topology':[?]}", "{'cpu':0}", 8193,
                 "topology: has 8193 elements, more than 8192");
    assert_count(MORE("'devices':[?]"), "{'pci':'%04zx:00:00.0'}", 65536, NULL);
    assert_count(MORE("'devices':[?]"), "{'pci':'%04zx:00:00.0'}", 65537,
                 "devices: has 65537 elements, more than 65536");
    assert_count(MORE("'pools':[?]"), "{'pool':%zu,'cpus':''}", 40944, NULL);
    assert_count(MORE("'pools':[?]"), "{'pool':%zu,'cpus':''}", 40945, "pools: has 40945 elements, more than 40944");
}

/*
 * Of all vCPUs on 8192 CPUs, 64 domains of 8192 may have masks; those that are null have none. It is seen before any of
 * them is read: each element here would be refused.
 */
static void test_too_many_vcpus(void **state)
{
    for (size_t more = 0; more <= 1; more++) {
        _cleanup_text_ Text text = {0};
        _cleanup_free_ char *json = NULL;

        text_add(&text, HEAD "'max_cpu_id':8191,'nodes':[" NODE "],'domains':[{'domid':0,'vcpus':[null,null]}");
        for (size_t domain = 0; domain < 64; domain++) {
            text_printf(&text, ",{'domid':%zu,'vcpus':[0", domain + 1);
            for (size_t i = 1; i < 8192; i++)
                text_add_bytes(&text, ",0", 2);
            text_add(&text, "]}");
        }
        text_add(&text, more ? ",{'domid':65,'vcpus':[0]}]}" : ",{'domid':65,'vcpus':[null]}]}");
        json = json_of(text.data);
        assert_refused(json, strlen(json),
                       more ? "domains[65].vcpus: too many vCPUs: 524289 up to here, and with max_cpu_id 8191 there "
                              "may be 524288"
                            : "domains[1].vcpus[0]: must be an object");
    }
}

/* 32 arrays and objects in one another are JSON; no description has as many. */
static void test_depth(void **state)
{
    for (size_t depth = 32; depth <= 33; depth++) {
        char json[66];

        memset(json, '[', depth);
        memset(json + depth, ']', depth);
        assert_refused(json, 2 * depth,
                       depth == 32 ? "must be an object" : "not JSON: line 1, column 33: nested too deep");
    }
}

static void test_end(void **state)
{
    _cleanup_free_ char *json = json_of(NODES(NODE));

    assert_refused(json, strlen(json) + 1, "not JSON: line 1, column 69: something follows the document"); /* the NUL */
    for (size_t size = 0; size < strlen(json); size++) {
        HostRows *rows = NULL;
        _cleanup_free_ char *error = NULL;

        assert_int_equal(hostdesc_parse(json, size, &rows, &error), HOSTDESC_E_REFUSED);
        assert_non_null(strstr(error, "not JSON: line 1, column "));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_head),    cmocka_unit_test(test_nodes),   cmocka_unit_test(test_cpus),
        cmocka_unit_test(test_devices), cmocka_unit_test(test_domains), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_too_many_vcpus),
        cmocka_unit_test(test_depth),   cmocka_unit_test(test_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

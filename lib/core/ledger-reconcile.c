/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ledger-parts.h"

#include <string.h>

/*
 * One pass over the reservations that have a domain, one over the domains for those that wait for one, and only then a
 * new ledger, if anything is to change: that is made once a second, with thousands of domains, and changes nothing as a
 * rule. Those that wait are sorted by what they wait for, so that a domain is looked up among them, and the many
 * domains that nobody waits for cost a few comparisons.
 */

typedef enum Fate {
    FATE_STAYS,
    FATE_FORGETS, /* the domain that it does not mean is gone */
    FATE_BUILDS,  /* its domain has come */
    FATE_ENDS,
} Fate;

/* One that waits for its domain. */
typedef struct Waiting {
    const Reservation *r;
    size_t item;
    uint32_t not_domid;
    const DomainMemory *came;
    size_t n_served; /* of the first of those that wait for the same: how many of them, from it on, have theirs */
} Waiting;

typedef struct Reconcile {
    const Ledger *ledger;
    const HostMemory *memory;
    Fate *fates;                  /* owned, by item */
    const DomainMemory **domains; /* owned, by item: what has come */
    bool *held;                   /* owned, by domain: it has a reservation */
    Waiting *waiting;             /* owned */
    size_t n_waiting, n_by_uuid;  /* those that wait for a UUID first, then those that wait for a name */
    bool changed;
} Reconcile;

static void reconcile_done(Reconcile *c)
{
    free(c->fates);
    free(c->domains);
    free(c->held);
    free(c->waiting);
}

static int reconcile_init(Reconcile *c, const Ledger *ledger, const HostMemory *memory)
{
    c->ledger = ledger;
    c->memory = memory;
    c->fates = new_array(ledger->n, sizeof(*c->fates));
    c->domains = new_array(ledger->n, sizeof(*c->domains));
    c->held = new_array(memory->n_domains, sizeof(*c->held));
    c->waiting = new_array(ledger->n, sizeof(*c->waiting));
    return c->fates && c->domains && c->held && c->waiting ? 0 : -ENOMEM;
}

static void decide(Reconcile *c, size_t item, Fate fate)
{
    c->fates[item] = fate;
    c->changed = true;
}

/* --- those that have a domain --- */

static void hold_against(Reconcile *c, size_t item)
{
    const Reservation *r = c->ledger->items[item];
    const DomainMemory *domain = host_memory_find(c->memory, (domid_t)r->domid);

    if (domain && !domain->dying && reservation_is_of(r, domain))
        c->held[domain - c->memory->domains] = true;
    else
        decide(c, item, FATE_ENDS);
}

/* --- those that wait for one --- */

/* Whether the domain that is not meant is still there. */
static bool still_refuses(const Reconcile *c, const Reservation *r)
{
    const DomainMemory *domain = r->not_domid == DOMID_NONE ? NULL : host_memory_find(c->memory, (domid_t)r->not_domid);

    return domain && domain->has_uuid == r->has_not_uuid &&
           memcmp(domain->uuid, r->not_uuid, sizeof(domain->uuid)) == 0;
}

static void add_waiting(Reconcile *c, size_t item)
{
    const Reservation *r = c->ledger->items[item];
    bool refuses = still_refuses(c, r);

    if (r->not_domid != DOMID_NONE && !refuses)
        decide(c, item, FATE_FORGETS);
    if (!r->told_uuid && !r->name)
        return; /* only Commit can tell */
    c->waiting[c->n_waiting++] = (Waiting){.r = r, .item = item, .not_domid = refuses ? r->not_domid : DOMID_NONE};
    c->n_by_uuid += r->told_uuid;
}

static int compare_waiting(const void *a, const void *b)
{
    const Waiting *left = a, *right = b;
    int order = right->r->told_uuid - left->r->told_uuid;

    if (order == 0)
        order = left->r->told_uuid ? memcmp(left->r->uuid, right->r->uuid, sizeof(left->r->uuid))
                                   : strcmp(left->r->name, right->r->name);
    return order != 0 ? order : (left->item > right->item) - (left->item < right->item);
}

static int compare_to_domain(const Waiting *w, const DomainMemory *domain)
{
    return w->r->told_uuid ? memcmp(w->r->uuid, domain->uuid, sizeof(domain->uuid)) : strcmp(w->r->name, domain->name);
}

/*
 * The oldest of waiting[low..high) that waits for such a domain and takes this one; NULL: none does. However many wait
 * for the same, and however many such domains there are, each of them is passed over but once or twice: one that
 * refuses a domain takes the next.
 */
static Waiting *find_taker(Reconcile *c, size_t low, size_t high, const DomainMemory *domain)
{
    size_t end = high, first;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare_to_domain(&c->waiting[middle], domain) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    first = low;
    for (size_t i = first; i < end; i++) {
        Waiting *w = &c->waiting[i];

        if (i == first && w->n_served > 0) {
            i += w->n_served - 1;
            continue;
        }
        if (compare_to_domain(w, domain) != 0)
            return NULL;
        if (!w->came && w->not_domid != domain->domid)
            return w;
        if (w->came && i == first + c->waiting[first].n_served)
            c->waiting[first].n_served++;
    }
    return NULL;
}

/* A UUID says more than a name. */
static void offer(Reconcile *c, const DomainMemory *domain)
{
    Waiting *taker = domain->has_uuid ? find_taker(c, 0, c->n_by_uuid, domain) : NULL;

    if (!taker && domain->name)
        taker = find_taker(c, c->n_by_uuid, c->n_waiting, domain);
    if (!taker)
        return;
    taker->came = domain;
    c->domains[taker->item] = domain;
    decide(c, taker->item, FATE_BUILDS);
}

static void offer_all(Reconcile *c)
{
    if (c->n_waiting == 0)
        return;
    qsort(c->waiting, c->n_waiting, sizeof(*c->waiting), compare_waiting);
    for (size_t i = 0; i < c->memory->n_domains; i++)
        if (!c->memory->domains[i].dying && !c->held[i])
            offer(c, &c->memory->domains[i]);
}

static void expire(Reconcile *c, size_t item, uint64_t now_us)
{
    const Reservation *r = c->ledger->items[item];

    if (r->state == RESERVATION_PENDING && c->fates[item] != FATE_BUILDS && r->expires_us <= now_us)
        decide(c, item, FATE_ENDS);
}

static void judge(Reconcile *c, uint64_t now_us)
{
    for (size_t i = 0; i < c->ledger->n; i++)
        if (c->ledger->items[i]->state == RESERVATION_PENDING)
            add_waiting(c, i);
        else
            hold_against(c, i);
    offer_all(c);
    for (size_t i = 0; i < c->ledger->n; i++)
        expire(c, i, now_us);
}

/* --- the new ledger --- */

static int apply(const Reconcile *c, Ledger *draft, size_t item)
{
    Reservation *own;

    if (c->fates[item] == FATE_STAYS)
        return 0;
    if (c->fates[item] == FATE_ENDS) {
        ledger_drop(draft, item);
        return 0;
    }
    own = ledger_edit(draft, item);
    if (!own)
        return -ENOMEM;
    own->not_domid = DOMID_NONE;
    own->has_not_uuid = false;
    memset(own->not_uuid, 0, sizeof(own->not_uuid));
    if (c->fates[item] == FATE_BUILDS)
        reservation_assign(own, RESERVATION_BUILDING, c->domains[item]);
    return 0;
}

static int make_ledger(const Reconcile *c, const LedgerEnd *ends, size_t n_ends, Ledger **ret_ledger)
{
    _cleanup_(ledger_unref_p) Ledger *draft = ledger_draft(c->ledger, 0);
    int r = draft ? 0 : -ENOMEM;

    for (size_t i = 0; r == 0 && i < c->ledger->n; i++)
        r = apply(c, draft, i);
    if (r == 0 && n_ends > 0)
        r = ledger_remember(draft, ends, n_ends);
    if (r == 0)
        r = ledger_seal(draft);
    if (r == 0)
        *ret_ledger = TAKE_PTR(draft);
    return r;
}

static int list_ends(const Reconcile *c, LedgerEnd **ret_ends, size_t *ret_n_ends)
{
    LedgerEnd *ends;
    size_t n = 0;

    for (size_t i = 0; i < c->ledger->n; i++)
        n += c->fates[i] == FATE_ENDS && reservation_is_open(c->ledger->items[i]);
    *ret_ends = NULL;
    *ret_n_ends = 0;
    if (n == 0)
        return 0;
    ends = *ret_ends = new_array(n, sizeof(*ends));
    if (!ends)
        return -ENOMEM;
    *ret_n_ends = n;
    for (size_t i = 0; i < c->ledger->n; i++)
        if (c->fates[i] == FATE_ENDS && reservation_is_open(c->ledger->items[i]))
            *ends++ = (LedgerEnd){.reservation = c->ledger->items[i]};
    return 0;
}

int ledger_reconcile(Ledger *ledger, const HostMemory *memory, uint64_t now_us, Ledger **ret_ledger,
                     LedgerEnd **ret_ends, size_t *ret_n_ends)
{
    _cleanup_(reconcile_done) Reconcile c = {0};
    int r = reconcile_init(&c, ledger, memory);

    if (r < 0)
        return r;
    judge(&c, now_us);
    r = list_ends(&c, ret_ends, ret_n_ends);
    if (r < 0)
        return r;
    if (!c.changed) {
        *ret_ledger = ledger_ref(ledger);
        return 0;
    }
    r = make_ledger(&c, *ret_ends, *ret_n_ends, ret_ledger);
    if (r < 0) {
        free(*ret_ends);
        *ret_ends = NULL;
        *ret_n_ends = 0;
    }
    return r;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "ledger-store.h"

#include "lib/io/file.h"
#include "log.h"

#include <stdio.h>
#include <string.h>

#define LEDGER_FILE "ledger.json"
#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define BOOT_ID_MAX 64

struct LedgerStore {
    State *state;
    char *directory;
    char *lost;          /* NULL: the ledger was not */
    LedgerOrigin origin; /* owned */
};

/* Under systemd, what the unit's RuntimeDirectory= is; the first, should it name several. */
static char *choose_directory(const char *directory)
{
    const char *runtime = getenv("RUNTIME_DIRECTORY");

    if (directory)
        return strdup(directory);
    return runtime && *runtime ? strndup(runtime, strcspn(runtime, ":")) : strdup(STATE_DIRECTORY);
}

static int read_boot_id(char **ret_boot_id)
{
    size_t size = 0;
    int r = file_read(BOOT_ID, BOOT_ID_MAX, ret_boot_id, &size);

    if (r < 0)
        return log_error_errno(r, BOOT_ID ": %m");
    (*ret_boot_id)[strcspn(*ret_boot_id, "\n")] = '\0';
    return 0;
}

/* A host description by its real path, so that it is the same wherever the daemon was started from. */
static char *name_host(const char *host)
{
    char *real = strcmp(host, "xen") == 0 ? NULL : realpath(host, NULL);

    return real ? real : strdup(host);
}

/* --- what the disk has --- */

#define UNKNOWN "what was promised before is not known, and may be promised again"

/* 0 or -ENOMEM. */
static int set_aside(LedgerStore *store, const char *why)
{
    int r = state_set_aside(store->state, LEDGER_FILE), n;

    if (r < 0)
        log_errno(LOG_WARNING, r, "%s/" LEDGER_FILE ": %s; it cannot be set aside: %m; starting without reservations",
                  store->directory, why);
    else
        log_warning("%s/" LEDGER_FILE ": %s; it is " LEDGER_FILE ".bad now, starting without reservations",
                    store->directory, why);
    n = asprintf(&store->lost, "%s/" LEDGER_FILE ": %s: " UNKNOWN "%s", store->directory, why,
                 r < 0 ? "; the file cannot be set aside" : "; the file is " LEDGER_FILE ".bad there now");
    if (n < 0)
        store->lost = NULL;
    return n < 0 ? -ENOMEM : 0;
}

/* 0: *ret_text is what the file has, or NULL: there is none to be read, which has been logged. Or -ENOMEM. */
static int read_text(LedgerStore *store, char **ret_text, size_t *ret_size)
{
    int r = state_read(store->state, LEDGER_FILE, LEDGER_FILE_MAX, ret_text, ret_size);

    if (r == 0 || r == -ENOMEM)
        return r;
    *ret_text = NULL;
    if (r == STATE_E_ODD)
        return set_aside(store, "is a link, no file, another user's, or one that others can write");
    if (r == -EFBIG)
        return set_aside(store, "is larger than a ledger can be");
    return r == -ENOENT ? 0 : set_aside(store, strerror(-r));
}

/* *ret_ledger stays NULL when there is none that is of use. */
static int load(LedgerStore *store, Ledger **ret_ledger)
{
    _cleanup_free_ char *text = NULL, *why = NULL;
    size_t size = 0;
    int r = read_text(store, &text, &size);

    if (r < 0 || !text)
        return r;
    r = ledger_read(text, size, &store->origin, ret_ledger, &why);
    if (r < 0)
        return r;
    if (r == LEDGER_FILE_E_REFUSED)
        return set_aside(store, why);
    if (r == LEDGER_FILE_E_FOREIGN)
        log_info("%s/" LEDGER_FILE ": %s; starting without reservations", store->directory, why);
    else if ((*ret_ledger)->n > 0)
        log_info("%s/" LEDGER_FILE ": %zu reservation%s", store->directory, (*ret_ledger)->n, plural((*ret_ledger)->n));
    return 0;
}

/* --- the store --- */

static int open_store(LedgerStore *store, const char *directory, const char *host)
{
    _cleanup_free_ char *why = NULL, *boot_id = NULL;
    int r;

    store->directory = choose_directory(directory);
    store->origin.host = name_host(host);
    if (!store->directory || !store->origin.host)
        return -ENOMEM;
    r = read_boot_id(&boot_id);
    store->origin.boot_id = TAKE_PTR(boot_id);
    if (r < 0)
        return r;
    r = state_open(store->directory, &store->state, &why);
    if (r < 0)
        log_error("the state directory %s", why ? why : strerror(-r));
    return r;
}

int ledger_store_open(const char *directory, const char *host, LedgerStore **ret_store, Ledger **ret_ledger)
{
    LedgerStore *store = calloc(1, sizeof(*store));
    Ledger *ledger = NULL;
    int r = store ? open_store(store, directory, host) : -ENOMEM;

    if (r == 0)
        r = load(store, &ledger);
    if (r == 0 && !ledger && !(ledger = ledger_new()))
        r = -ENOMEM;
    if (r < 0) {
        ledger_store_free(store);
        return r == -ENOMEM ? log_error_errno(r, "cannot read the ledger of reservations: %m") : r;
    }
    *ret_store = store;
    *ret_ledger = ledger;
    return 0;
}

LedgerStore *ledger_store_free(LedgerStore *store)
{
    if (!store)
        return NULL;
    state_free(store->state);
    free(store->directory);
    free(store->lost);
    free((char *)store->origin.boot_id);
    free((char *)store->origin.host);
    free(store);
    return NULL;
}

const char *ledger_store_lost(const LedgerStore *store)
{
    return store->lost;
}

const char *ledger_store_directory(const LedgerStore *store)
{
    return store->directory;
}

int ledger_store_save(LedgerStore *store, const Ledger *ledger)
{
    _cleanup_free_ char *text = NULL;
    size_t size = 0;
    int r = ledger_write(ledger, &store->origin, &text, &size);

    return r < 0 ? r : state_write(store->state, LEDGER_FILE, text, size);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bus-error.h"

#include "lib/core/base.h"

#include <stdio.h>
#include <string.h>

#define OURS "org.numadxen.NumadXen1.Error."
#define DBUS "org.freedesktop.DBus.Error."

/* A name that ends in a dot stands for all names that begin with it. */
static const struct {
    const char *name;
    int error;
} names[] = {
    {DBUS "ServiceUnknown", ENOTCONN},
    {DBUS "NameHasNoOwner", ENOTCONN},
    {DBUS "NoServer", ENOTCONN},
    {DBUS "NoNetwork", ENOTCONN},
    {DBUS "Disconnected", ENOTCONN},
    {DBUS "Spawn.", ENOTCONN}, /* the bus tried to start it */
    {"org.freedesktop.systemd1.", ENOTCONN},
    {DBUS "NoReply", ETIMEDOUT},
    {DBUS "Timeout", ETIMEDOUT},
    {DBUS "TimedOut", ETIMEDOUT},
    {DBUS "AccessDenied", EACCES},
    {DBUS "AuthFailed", EACCES},
    {DBUS "InteractiveAuthorizationRequired", EACCES},
    {DBUS "LimitsExceeded", EBUSY},
    {DBUS "NoMemory", ENOMEM},
    {DBUS "UnknownMethod", ENOSYS},
    {DBUS "UnknownInterface", ENOSYS},
    {DBUS "UnknownObject", ENOSYS},
    {DBUS "UnknownProperty", ENOSYS},
    {DBUS "InvalidArgs", EINVAL},
    {DBUS "InvalidSignature", EINVAL},
    {OURS "NoFit", ENOSPC},
    {OURS "InvalidRequest", EINVAL},
    {OURS "UnknownDomain", ENOENT},
    {OURS "UnknownToken", ENOKEY},
    {OURS "Expired", EKEYEXPIRED},
    {OURS "Unsupported", EOPNOTSUPP},
    {OURS "LimitReached", EBUSY},
};

/* What sd-bus itself returns when the bus goes away under a call. */
static const int lost[] = {ECONNRESET, ECONNREFUSED, ECONNABORTED, EPIPE, ESHUTDOWN, ENOENT, ENOTCONN, ESTALE};

static int errno_of_name(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        size_t n = strlen(names[i].name);

        if (names[i].name[n - 1] == '.' ? strncmp(name, names[i].name, n) == 0 : strcmp(name, names[i].name) == 0)
            return names[i].error;
    }
    return 0;
}

static bool is_lost(int r)
{
    for (size_t i = 0; i < ARRAY_SIZE(lost); i++)
        if (-r == lost[i])
            return true;
    return false;
}

/*
 * An error that came has a name, and only those above mean something: sd-bus makes errnos of others (EACCES of Failed,
 * ENOSPC of System.Error.ENOSPC) that would tell of the caller what is the daemon's own trouble. One without a name is
 * this process's.
 */
static int errno_of_failure(int r, const sd_bus_error *error)
{
    int named = error && error->name ? errno_of_name(error->name) : 0;

    if (error && error->name)
        return named ? named : EIO;
    if (is_lost(r))
        return ENOTCONN;
    return r == -ENOMEM || r == -ETIMEDOUT || r == -EINVAL ? -r : EIO;
}

static char *make_text(const char *format, const char *a, const char *b)
{
    char *text = NULL;

    if (!a)
        a = "";
    return asprintf(&text, format, a, b ? b : a) < 0 ? NULL : text;
}

/* How a person calls the bus. Owned; NULL when memory is short. */
static char *bus_text(const char *address)
{
    return address ? make_text("the bus %s", address, NULL) : strdup("the system bus");
}

static char *no_answer(BusPlace place)
{
    char *text = NULL;
    int r;

    if (place.host)
        r = asprintf(&text,
                     "no answer from numad-xend on %s in %u s: 'systemctl status numad-xend' there says what it does",
                     place.host, place.patience);
    else if (!place.address)
        r = asprintf(&text, "no answer from numad-xend in %u s: systemctl status numad-xend says what it does",
                     place.patience);
    else
        r = asprintf(&text, "no answer from numad-xend on the bus %s in %u s: start it again if it hangs",
                     place.address, place.patience);
    return r < 0 ? NULL : text;
}

static char *not_running(BusPlace place, bool bus_lost)
{
    if (place.host && bus_lost)
        return make_text("the connection to %s is lost", place.host, NULL);
    if (place.host)
        return make_text("numad-xend is not running on %s: 'systemctl start numad-xend' there", place.host, NULL);
    if (!place.address)
        return strdup("numad-xend is not running: systemctl start numad-xend");
    return make_text("numad-xend is not running on the bus %s: start numad-xend --bus %s", place.address, NULL);
}

/* What dbus-daemon and dbus-broker say of a rule in their policy; it helps nobody who did not write the rule. */
static bool is_policy(const char *said)
{
    static const char *const beginnings[] = {"Rejected send message", "Sender is not authorized"};

    for (size_t i = 0; said && i < ARRAY_SIZE(beginnings); i++)
        if (strncmp(said, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return !said;
}

int bus_error_explain(int r, const sd_bus_error *error, BusPlace place, char **ret_text)
{
    const char *said = error && error->message && *error->message ? error->message : NULL;
    int number = errno_of_failure(r, error);

    switch (number) {
    case ENOTCONN:
        *ret_text = not_running(place, is_lost(r));
        break;
    case ETIMEDOUT:
        *ret_text = error && error->name && strcmp(error->name, DBUS "NoReply") == 0
                        ? make_text("numad-xend did not answer: %s", said, NULL)
                        : no_answer(place);
        break;
    case EACCES:
        *ret_text = is_policy(said) ? strdup("not permitted by the bus policy: run this as root")
                                    : make_text("not permitted: %s", said, NULL);
        break;
    case ENOSPC:
        *ret_text = make_text("no room: %s", said, NULL);
        break;
    case ENOSYS:
        *ret_text = make_text("numad-xend is of another version than this client: %s", said, NULL);
        break;
    default:
        *ret_text = make_text("numad-xend: %s", said ? said : strerror(r < 0 ? -r : number), NULL);
        break;
    }
    return -number;
}

bool bus_address_is_one(const char *address)
{
    static const char *const transports[] = {"unix:", "tcp:", "unixexec:", "x-machine-unix:"};

    while (address) {
        for (size_t i = 0; i < ARRAY_SIZE(transports); i++)
            if (strncmp(address, transports[i], strlen(transports[i])) == 0)
                return true;
        address = strchr(address, ';'); /* alternatives */
        address += address != NULL;
    }
    return false;
}

int bus_error_explain_connect(int r, const char *address, char **ret_text)
{
    _cleanup_free_ char *bus = bus_text(address);

    *ret_text = NULL;
    if (!bus)
        return -ENOMEM;
    switch (r) {
    case -ENOMEM:
        return r;
    case -EACCES:
    case -EPERM:
        *ret_text = make_text("cannot use %s: %s: run this as a user whom it admits", bus, strerror(-r));
        return -EACCES;
    case -ETIMEDOUT:
        *ret_text = make_text("no answer from %s in 5 s: see whether dbus-daemon hangs", bus, NULL);
        return r;
    case -EINVAL:
        *ret_text = make_text("'%s' is not a D-Bus address: give one like unix:path=/run/dbus/system_bus_socket",
                              address, NULL);
        return -ENOTCONN;
    default:
        *ret_text = make_text("cannot reach %s: %s: is dbus-daemon running?", bus, strerror(-r));
        return -ENOTCONN;
    }
}

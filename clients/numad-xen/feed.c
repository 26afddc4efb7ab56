/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "feed.h"

#include "report.h"

#include "lib/core/hostdesc-write.h"
#include "lib/core/hostdesc.h"
#include "lib/core/hwlocxml.h"
#include "lib/core/status.h"
#include "lib/core/topology.h"
#include "lib/io/capture.h"
#include "lib/io/file.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

void feed_done(Feed *feed)
{
    numadx_close(feed->client);
    feed->client = NULL;
    free(feed->error);
    feed->error = NULL;
}

const char *feed_error(const Feed *feed)
{
    return feed->error ? feed->error : "not enough memory";
}

void feed_report(const Feed *feed, int status, const char *command)
{
    if (status == STATUS_NO_DAEMON || status == STATUS_NOT_PERMITTED)
        report("%s", feed_error(feed));
    else
        report("%s: %s", command, feed_error(feed));
}

static int exit_status_of(int r)
{
    switch (r) {
    case -ENOTCONN:
    case -ETIMEDOUT:
        return STATUS_NO_DAEMON;
    case -EACCES:
    case -EPERM:
        return STATUS_NOT_PERMITTED;
    case -ENOSPC:
        return STATUS_NOFIT;
    default:
        return STATUS_FAILED;
    }
}

int feed_fail(Feed *feed, char *text)
{
    free(feed->error);
    feed->error = text;
    return STATUS_FAILED;
}

/* Takes `text` over. */
static int fail_file(Feed *feed, const char *why, char *text)
{
    free(feed->error);
    if (asprintf(&feed->error, "%s: %s", feed->globals->host, text ? text : why) < 0)
        feed->error = NULL;
    free(text);
    return STATUS_FAILED;
}

static int fail_open(Feed *feed, int r)
{
    char *text = NULL;

    if (asprintf(&text, "%s: give --host the file of a host description, or the folder of a capture", strerror(-r)) < 0)
        text = NULL;
    return fail_file(feed, strerror(-r), text);
}

static int read_host(Feed *feed, HostRows **ret_rows)
{
    _cleanup_free_ char *path = capture_find(feed->globals->host), *text = NULL;
    char *error = NULL;
    size_t size;
    int r;

    r = path ? file_read(path, HOSTDESC_MAX_BYTES, &text, &size) : -ENOMEM;
    if (r == -EFBIG)
        return fail_file(feed, "larger than 64 MiB, which no host description is", NULL);
    if (r < 0)
        return fail_open(feed, r);
    r = hostdesc_parse(text, size, ret_rows, &error);
    return r != 0 ? fail_file(feed, "not enough memory", r == HOSTDESC_E_REFUSED ? error : NULL) : 0;
}

int feed_seal(Feed *feed, Snapshot **ret_snapshot)
{
    HostRows *rows = NULL;
    int r = read_host(feed, &rows);

    if (r != 0)
        return r;
    r = snapshot_seal(rows, 1, -1, ret_snapshot);
    return r < 0 ? fail_file(feed, strerror(-r), NULL) : 0;
}

static int documents_of_host(Feed *feed, char **ret_status, char **ret_topology)
{
    /* This process has counted since now, and nothing; there is no collection to tell of. */
    const Stats stats = {.since_us = (int64_t)time(NULL) * 1000000, .last_collection_us = -1};
    _cleanup_(snapshot_unref_p) Snapshot *snapshot = NULL;
    int r = feed_seal(feed, &snapshot);

    if (r != 0)
        return r;
    r = ret_status ? status_document(snapshot, &stats, ret_status) : 0;
    if (r == 0 && ret_topology)
        r = topology_document(snapshot, ret_topology);
    return r < 0 ? fail_file(feed, strerror(-r), NULL) : 0;
}

int feed_fail_client(Feed *feed, int r)
{
    free(feed->error);
    feed->error = feed->client ? strdup(numadx_error(feed->client)) : NULL;
    feed->cause = r;
    numadx_close(feed->client);
    feed->client = NULL;
    return exit_status_of(r);
}

int feed_connect(Feed *feed)
{
    int r;

    if (feed->client)
        return 0;
    r = feed->globals->remote ? numadx_open_remote(feed->globals->remote, &feed->client)
                              : numadx_open(feed->globals->bus, &feed->client);
    return r < 0 ? feed_fail_client(feed, r) : 0;
}

int feed_read(Feed *feed, char **ret_status, char **ret_topology)
{
    char *status = NULL, *topology = NULL;
    int r;

    if (feed->globals->host)
        return documents_of_host(feed, ret_status, ret_topology);
    r = feed_connect(feed);
    if (r != 0)
        return r;
    r = ret_status ? numadx_get_status(feed->client, &status) : 0;
    if (r == 0 && ret_topology)
        r = numadx_get_topology(feed->client, &topology);
    if (r < 0) {
        free(status);
        return feed_fail_client(feed, r);
    }
    if (ret_status)
        *ret_status = status;
    if (ret_topology)
        *ret_topology = topology;
    return 0;
}

static int hwloc_of_host(Feed *feed, char **ret_xml)
{
    _cleanup_(snapshot_unref_p) Snapshot *snapshot = NULL;
    int r = feed_seal(feed, &snapshot);

    if (r != 0)
        return r;
    r = hwloc_xml_document(snapshot, ret_xml);
    if (r == HWLOC_XML_E_EMPTY)
        return fail_file(feed, HWLOC_XML_EMPTY_TEXT, NULL);
    return r < 0 ? fail_file(feed, strerror(-r), NULL) : 0;
}

int feed_read_hwloc(Feed *feed, char **ret_xml)
{
    int r;

    if (feed->globals->host)
        return hwloc_of_host(feed, ret_xml);
    r = feed_connect(feed);
    if (r != 0)
        return r;
    r = numadx_get_topology_xml(feed->client, ret_xml);
    return r < 0 ? feed_fail_client(feed, r) : 0;
}

int feed_read_version(Feed *feed, char **ret_version)
{
    int r;

    r = feed_connect(feed);
    if (r != 0)
        return r;
    r = numadx_get_version(feed->client, ret_version);
    return r < 0 ? feed_fail_client(feed, r) : 0;
}

int feed_read_capture(Feed *feed, char **ret_text)
{
    _cleanup_(host_rows_free_p) HostRows *rows = NULL;
    int r;

    if (!feed->globals->host) {
        r = feed_connect(feed);
        if (r != 0)
            return r;
        r = numadx_gather(feed->client, ret_text);
        return r < 0 ? feed_fail_client(feed, r) : 0;
    }
    r = read_host(feed, &rows);
    if (r != 0)
        return r;
    r = hostdesc_document(rows, ret_text);
    return r < 0 ? fail_file(feed, strerror(-r), NULL) : 0;
}

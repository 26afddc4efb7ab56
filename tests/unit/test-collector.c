/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/collector.h"
#include "lib/core/hostdesc.h"
#include "tests/unit/unit.h"

#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* A collector on a source whose every step is told, and a loop that runs until something has happened. */

#define BEGINS_MAX 1000
#define MS 1000u

typedef struct Fake {
    Source source;
    int fd;
    unsigned steps;         /* a collection takes */
    unsigned step_us;       /* each of them */
    unsigned event_at_step; /* one domain event happens in the first collection's step of that number */
    int begin_error, step_error, dispatch_error, reload_error;
    unsigned left, n_begins, n_steps, n_dispatches;
    bool full[BEGINS_MAX];
    uint64_t begun_us[BEGINS_MAX];
} Fake;

typedef struct World {
    sd_event *event;
    Fake fake;
    Stats stats;
    Collector *collector;
    unsigned n_good, n_failed;
    uint64_t generation;
} World;

static uint64_t now_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000u + (uint64_t)ts.tv_nsec / 1000u;
}

static void happen(Fake *fake)
{
    eventfd_write(fake->fd, 1);
}

static int fake_begin(Source *source, bool full)
{
    Fake *fake = (Fake *)source;

    assert_true(fake->n_begins < BEGINS_MAX);
    fake->full[fake->n_begins] = full;
    fake->begun_us[fake->n_begins++] = now_us();
    fake->left = fake->steps;
    return fake->begin_error;
}

static int fake_step(Source *source, HostRows **ret_rows)
{
    static const char host[] = "{\"format\":\"numad-xen-host/1\",\"nodes\":[{\"size\":1,\"free\":0,\"cpus\":\"0\"}]}";
    Fake *fake = (Fake *)source;
    char *error = NULL;

    fake->n_steps++;
    if (fake->n_begins == 1 && fake->n_steps == fake->event_at_step)
        happen(fake);
    usleep(fake->step_us);
    if (fake->step_error)
        return fake->step_error;
    if (fake->left > 1) {
        fake->left--;
        return 1;
    }
    return hostdesc_parse(host, strlen(host), ret_rows, &error);
}

static int fake_event_fd(const Source *source)
{
    return ((const Fake *)source)->fd;
}

static int fake_dispatch(Source *source)
{
    Fake *fake = (Fake *)source;
    eventfd_t n;

    fake->n_dispatches++;
    if (fake->dispatch_error)
        return fake->dispatch_error; /* and stays readable, as a dead connection does */
    return eventfd_read(fake->fd, &n) == 0;
}

static int fake_reload(Source *source, char **ret_error)
{
    Fake *fake = (Fake *)source;

    if (fake->reload_error)
        *ret_error = strdup("because");
    return fake->reload_error;
}

static void fake_free(Source *source)
{
    close(((Fake *)source)->fd);
}

static const SourceOps fake_ops = {.begin = fake_begin, .step = fake_step, .event_fd = fake_event_fd, .dispatch = fake_dispatch,
                                   .reload = fake_reload, .free = fake_free};

static void on_collected(Snapshot *snapshot, void *userdata)
{
    World *world = userdata;

    if (!snapshot) {
        world->n_failed++;
        return;
    }
    world->n_good++;
    assert_int_equal(snapshot->generation, world->generation + 1);
    world->generation = snapshot->generation;
}

static void open_world(World *world, Fake fake)
{
    *world = (World){.fake = fake};
    world->fake.source.ops = &fake_ops;
    world->fake.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    assert_true(sd_event_new(&world->event) >= 0);
    assert_int_equal(collector_new(world->event, &world->fake.source, &world->stats, on_collected, world,
                                   &world->collector),
                     0);
}

static void close_world(World *world)
{
    collector_free(world->collector);
    sd_event_unref(world->event);
}

/* Runs the loop for that long, or until *count reaches `wanted`. */
static void run(World *world, unsigned ms, const unsigned *count, unsigned wanted)
{
    uint64_t end = now_us() + ms * (uint64_t)MS;

    while (now_us() < end && (!count || *count < wanted))
        assert_true(sd_event_run(world->event, 10 * MS) >= 0);
}

static void test_ticks(void **state)
{
    World world;

    open_world(&world, (Fake){.steps = 3});
    run(&world, 5000, &world.n_good, 4);
    close_world(&world);
    assert_int_equal(world.n_good, 4);
    assert_int_equal(world.fake.n_begins, 4);
    assert_int_equal(world.fake.n_steps, 12);
    assert_true(world.fake.full[0]);
    for (unsigned i = 1; i < 4; i++) {
        uint64_t since = world.fake.begun_us[i] - world.fake.begun_us[0];

        assert_false(world.fake.full[i]);
        /* each at its own whole second since the start: what one is late does not move the next */
        assert_in_range(since, i * 1000u * MS - 20 * MS, i * 1000u * MS + 900 * MS);
    }
    assert_int_equal(world.stats.collection.count, 4);
    assert_true(world.stats.last_collection_us > 0);
}

static unsigned count_full(const Fake *fake)
{
    unsigned n = 0;

    for (unsigned i = 0; i < fake->n_begins; i++)
        n += fake->full[i];
    return n;
}

static void test_event_collects_at_once(void **state)
{
    World world;

    open_world(&world, (Fake){.steps = 1});
    run(&world, 5000, &world.n_good, 1);
    run(&world, 100, NULL, 0); /* past the gap */
    assert_int_equal(world.n_good, 1);
    happen(&world.fake);
    run(&world, 5000, &world.n_good, 2);
    close_world(&world);
    assert_true(world.fake.full[1]);
    assert_true(world.fake.begun_us[1] - world.fake.begun_us[0] < 990 * MS); /* before the next tick */
}

static void test_event_in_collection(void **state)
{
    World world;
    uint64_t apart;

    open_world(&world, (Fake){.steps = 20, .step_us = 100, .event_at_step = 5});
    run(&world, 5000, &world.n_good, 2);
    run(&world, 300, NULL, 0);
    close_world(&world);
    assert_int_equal(count_full(&world.fake), 2); /* exactly one more */
    apart = world.fake.begun_us[1] - world.fake.begun_us[0];
    assert_in_range(apart, COLLECTION_GAP_US - MS, 990 * MS);
}

static void storm(World *world, unsigned ms)
{
    uint64_t end = now_us() + ms * (uint64_t)MS;

    while (now_us() < end) {
        happen(&world->fake);
        assert_true(sd_event_run(world->event, MS) >= 0);
    }
}

static void test_storm(void **state)
{
    World world;

    open_world(&world, (Fake){.steps = 2});
    storm(&world, 1500);
    close_world(&world);
    assert_in_range(world.n_good, 3, 1500 * MS / COLLECTION_GAP_US + 2);
    assert_true(world.fake.n_dispatches > world.n_good * 2); /* it was a storm */
    assert_true(count_full(&world.fake) >= 3);               /* the ticks need not be */
}

static void test_costly_storm(void **state)
{
    World world;

    open_world(&world, (Fake){.steps = 4, .step_us = 5 * MS}); /* 20 ms each: 200 ms apart */
    storm(&world, 2000);
    close_world(&world);
    assert_in_range(world.n_good, 2, 2000 / 200 + 3); /* the ticks come on top */
}

static void test_slow_collections_do_not_pile_up(void **state)
{
    World world;

    open_world(&world, (Fake){.steps = 30, .step_us = 50 * MS}); /* 1.5 s */
    run(&world, 6000, &world.n_good, 2);
    close_world(&world);
    assert_int_equal(world.n_good, 2);
    assert_int_equal(world.fake.n_begins, 2);
    assert_int_equal(world.fake.n_steps, 60);
}

static void test_failure(void **state)
{
    World world;

    open_world(&world, (Fake){.steps = 1, .step_error = -EIO});
    world.fake.source.errors[ERROR_XENSTORE] = 7;
    run(&world, 5000, &world.n_failed, 2);
    assert_int_equal(world.n_good, 0);
    assert_int_equal(world.stats.collection.count, 0);
    assert_int_equal(world.stats.errors_xenstore, 7);
    assert_true(world.fake.full[1]); /* what the failed one should have read is still missing */
    assert_true(world.fake.begun_us[1] - world.fake.begun_us[0] >= 900 * MS); /* not again at once */
    world.fake.step_error = 0;
    run(&world, 5000, &world.n_good, 2);
    close_world(&world);
    assert_int_equal(world.n_good, 2);
    assert_true(world.fake.full[2]);
    assert_false(world.fake.full[3]);
}

/* The last snapshot stays in force, and the stats say how old it is. */
static void test_age_is_kept(void **state)
{
    World world;
    int64_t age;

    open_world(&world, (Fake){.steps = 1});
    run(&world, 5000, &world.n_good, 1);
    age = world.stats.last_collection_us;
    assert_true(age > 0);
    world.fake.step_error = -ENOMEM;
    run(&world, 5000, &world.n_failed, 2);
    assert_int_equal(world.stats.last_collection_us, age);
    assert_int_equal(world.stats.collection.count, 1);
    world.fake.step_error = 0;
    run(&world, 5000, &world.n_good, 2);
    assert_true(world.stats.last_collection_us > age);
    assert_int_equal(world.generation, 2);
    close_world(&world);
}

static void test_begin_fails(void **state)
{
    World world;

    open_world(&world, (Fake){.steps = 1, .begin_error = -EBUSY});
    run(&world, 5000, &world.n_failed, 2);
    close_world(&world);
    assert_int_equal(world.n_failed, 2);
    assert_int_equal(world.fake.n_steps, 0);
}

static void test_events_lost(void **state)
{
    World world;

    open_world(&world, (Fake){.steps = 1, .dispatch_error = -ECONNRESET});
    run(&world, 5000, &world.n_good, 1);
    happen(&world.fake);
    run(&world, 5000, &world.n_good, 3);
    close_world(&world);
    assert_int_equal(world.fake.n_dispatches, 1); /* not asked again and again */
    assert_int_equal(world.n_good, 3);
}

static void test_reload(void **state)
{
    _cleanup_free_ char *why = NULL;
    World world;

    open_world(&world, (Fake){.steps = 10, .step_us = MS});
    run(&world, 5000, &world.fake.n_steps, 4);
    assert_int_equal(collector_reload(world.collector, &why), 0);
    run(&world, 5000, &world.n_good, 1);
    assert_int_equal(world.fake.n_steps, 14); /* the one under way was dropped */
    assert_int_equal(world.n_good, 1);
    assert_true(world.fake.full[1]);
    world.fake.reload_error = -EINVAL;
    assert_int_equal(collector_reload(world.collector, &why), -EINVAL);
    assert_string_equal(why, "because");
    assert_int_equal(world.fake.n_begins, 2);
    close_world(&world);
}

typedef struct Captured {
    unsigned n;
    int error;
    char *text;      /* owned */
    unsigned begins; /* of the source, when it came */
    const Fake *fake;
} Captured;

static void on_captured(int error, const char *text, size_t size, void *userdata)
{
    Captured *captured = userdata;

    captured->n++;
    captured->error = error;
    captured->begins = captured->fake->n_begins;
    free(captured->text);
    captured->text = text ? strdup(text) : NULL;
    assert_int_equal(size, text ? strlen(text) : 0);
}

static void test_capture(void **state)
{
    Captured captured = {0};
    HostRows *rows = NULL;
    char *error = NULL;
    World world;

    open_world(&world, (Fake){.steps = 10, .step_us = MS});
    captured.fake = &world.fake;
    run(&world, 5000, &world.fake.n_steps, 4);
    assert_int_equal(collector_capture(world.collector, on_captured, &captured), 0);
    assert_int_equal(collector_capture(world.collector, on_captured, &captured), -EALREADY);
    run(&world, 5000, &captured.n, 1);
    assert_int_equal(captured.begins, 2); /* not of the collection that was under way */
    assert_true(world.fake.full[1]);
    assert_true(world.fake.begun_us[1] - world.fake.begun_us[0] < 900 * MS); /* nor of the next tick's */
    assert_int_equal(captured.error, 0);
    assert_int_equal(hostdesc_parse(captured.text, strlen(captured.text), &rows, &error), 0);
    assert_int_equal(rows->n_nodes, 1);
    assert_int_equal(rows->nodes[0].size, 1);
    host_rows_free(rows);
    run(&world, 5000, &world.n_good, 3); /* what was captured is sealed too */
    assert_int_equal(world.n_good, 3);
    assert_int_equal(captured.n, 1);
    free(captured.text);
    close_world(&world);
}

static void test_capture_fails(void **state)
{
    Captured captured = {0};
    World world;

    open_world(&world, (Fake){.steps = 1});
    captured.fake = &world.fake;
    run(&world, 5000, &world.n_good, 1);
    world.fake.step_error = -EIO;
    assert_int_equal(collector_capture(world.collector, on_captured, &captured), 0);
    run(&world, 5000, &captured.n, 1);
    assert_int_equal(captured.error, -EIO);
    assert_null(captured.text);
    world.fake.step_error = 0;
    assert_int_equal(collector_capture(world.collector, on_captured, &captured), 0);
    run(&world, 5000, &captured.n, 2);
    assert_int_equal(captured.error, 0);
    free(captured.text);
    close_world(&world);
}

static void test_interval(void **state)
{
    World world;

    open_world(&world, (Fake){.steps = 1});
    run(&world, 5000, &world.n_good, 1);
    collector_set_interval(world.collector, 200 * MS);
    run(&world, 5000, &world.n_good, 5);
    assert_in_range(world.fake.begun_us[4] - world.fake.begun_us[1], 400 * MS, 2000 * MS);
    collector_set_interval(world.collector, 60000 * MS);
    run(&world, 1500, &world.n_good, 7); /* the one that was due, and no more */
    assert_int_equal(world.n_good, 6);
    close_world(&world);
}

/* A daemon that collects once an hour does not begin with an hour's wait. */
static void test_interval_before_the_first(void **state)
{
    World world;

    open_world(&world, (Fake){.steps = 1});
    collector_set_interval(world.collector, 3600000 * (uint64_t)MS);
    run(&world, 5000, &world.n_good, 1);
    assert_int_equal(world.n_good, 1);
    close_world(&world);
}

static void test_failure_in_a_long_interval(void **state)
{
    World world;

    open_world(&world, (Fake){.steps = 1, .step_error = -EIO});
    collector_set_interval(world.collector, 3600000 * (uint64_t)MS);
    run(&world, 5000, &world.n_failed, 2);
    assert_int_equal(world.n_failed, 2);
    world.fake.step_error = 0;
    run(&world, 5000, &world.n_good, 1);
    assert_int_equal(world.n_good, 1);
    close_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ticks),
        cmocka_unit_test(test_event_collects_at_once),
        cmocka_unit_test(test_event_in_collection),
        cmocka_unit_test(test_storm),
        cmocka_unit_test(test_costly_storm),
        cmocka_unit_test(test_slow_collections_do_not_pile_up),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_age_is_kept),
        cmocka_unit_test(test_begin_fails),
        cmocka_unit_test(test_events_lost),
        cmocka_unit_test(test_reload),
        cmocka_unit_test(test_capture),
        cmocka_unit_test(test_capture_fails),
        cmocka_unit_test(test_interval),
        cmocka_unit_test(test_interval_before_the_first),
        cmocka_unit_test(test_failure_in_a_long_interval),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

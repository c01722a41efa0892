/* Slab, list, blob, buffer and random numbers against what one would write without them. */
#include "base/assert.h"
#include "base/blob.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/rand.h"
#include "base/slab.h"
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define OPERATIONS 200000
#define ITEM_BYTES 224

/* Random places below size, the same for both sides and drawn before the clock runs. */
static uint32_t *draw_picks(size_t size)
{
    struct rand rand;
    rand_init(&rand, size);
    uint32_t *picks = bench_alloc(OPERATIONS, sizeof(*picks));
    for (size_t i = 0; i < OPERATIONS; i++)
        picks[i] = (uint32_t)rand_below(&rand, size);
    return picks;
}

struct slab_world {
    struct slab slab;
    slab_id *ids;
    void **pointers;
    uint32_t *picks;
};

static double slab_ours(void *context)
{
    struct slab_world *world = context;
    const uint64_t started_ns = bench_now_ns();
    for (size_t i = 0; i < OPERATIONS; i++) {
        slab_id *id = &world->ids[world->picks[i]];
        slab_free(&world->slab, *id);
        char *item = slab_alloc(&world->slab, id);
        item[0] = 1;
    }
    return bench_per_op(started_ns, OPERATIONS);
}

/* calloc, since the slab hands out zeroed items too. */
static double slab_theirs(void *context)
{
    struct slab_world *world = context;
    const uint64_t started_ns = bench_now_ns();
    for (size_t i = 0; i < OPERATIONS; i++) {
        void **pointer = &world->pointers[world->picks[i]];
        free(*pointer);
        char *item = bench_alloc(1, ITEM_BYTES);
        item[0] = 1;
        *pointer = item;
    }
    return bench_per_op(started_ns, OPERATIONS);
}

static void compare_slab(size_t size)
{
    struct slab_world world = {.picks = draw_picks(size)};
    slab_init(&world.slab, ITEM_BYTES, (uint32_t)size);
    world.ids = bench_alloc(size, sizeof(*world.ids));
    world.pointers = bench_alloc(size, sizeof(*world.pointers));
    for (size_t i = 0; i < size; i++) {
        ASSERT(slab_alloc(&world.slab, &world.ids[i]) != NULL);
        world.pointers[i] = bench_alloc(1, ITEM_BYTES);
    }
    bench_compare(&(struct bench_pair){.operation = "slab free+alloc",
                                       .size = size,
                                       .rival = "free+calloc",
                                       .ours = slab_ours,
                                       .theirs = slab_theirs,
                                       .context = &world});
    for (size_t i = 0; i < size; i++)
        free(world.pointers[i]);
    slab_close(&world.slab);
    free(world.ids);
    free(world.pointers);
    free(world.picks);
}

struct member {
    struct list link;
    TAILQ_ENTRY(member) entry;
    char rest[ITEM_BYTES - sizeof(struct list) - 2 * sizeof(void *)];
};

struct list_world {
    size_t size;
    struct list head;
    TAILQ_HEAD(, member) tailq;
    struct member *members;
    struct member **array;
    uint32_t *picks;
};

static double list_ours(void *context)
{
    struct list_world *world = context;
    const uint64_t started_ns = bench_now_ns();
    for (size_t i = 0; i < OPERATIONS; i++) {
        struct member *member = &world->members[world->picks[i]];
        list_unlink(&member->link);
        list_append(&world->head, &member->link);
    }
    return bench_per_op(started_ns, OPERATIONS);
}

static double list_tailq(void *context)
{
    struct list_world *world = context;
    const uint64_t started_ns = bench_now_ns();
    for (size_t i = 0; i < OPERATIONS; i++) {
        struct member *member = &world->members[world->picks[i]];
        TAILQ_REMOVE(&world->tailq, member, entry);
        TAILQ_INSERT_TAIL(&world->tailq, member, entry);
    }
    return bench_per_op(started_ns, OPERATIONS);
}

/* The array is even told where the member is. */
static double list_memmove(void *context)
{
    struct list_world *world = context;
    const size_t operations = OPERATIONS / 10;
    const uint64_t started_ns = bench_now_ns();
    for (size_t i = 0; i < operations; i++) {
        struct member **place = &world->array[world->picks[i]];
        struct member *member = *place;
        const size_t behind = world->size - 1 - world->picks[i];
        memmove(place, place + 1, behind * sizeof(void *));
        world->array[world->size - 1] = member;
    }
    return bench_per_op(started_ns, operations);
}

static void compare_list(size_t size)
{
    struct list_world world = {.size = size, .picks = draw_picks(size)};
    list_init(&world.head);
    TAILQ_INIT(&world.tailq);
    world.members = bench_alloc(size, sizeof(*world.members));
    world.array = bench_alloc(size, sizeof(void *));
    for (size_t i = 0; i < size; i++) {
        list_append(&world.head, &world.members[i].link);
        TAILQ_INSERT_TAIL(&world.tailq, &world.members[i], entry);
        world.array[i] = &world.members[i];
    }
    struct bench_pair pair = {.operation = "list unlink+append",
                              .size = size,
                              .context = &world,
                              .rival = "TAILQ",
                              .ours = list_ours,
                              .theirs = list_tailq};
    bench_compare(&pair);
    pair.rival = "array memmove";
    pair.theirs = list_memmove;
    bench_compare(&pair);
    free(world.members);
    free(world.array);
    free(world.picks);
}

static double blob_ours(void *context)
{
    struct blob *blob = context;
    const uint64_t started_ns = bench_now_ns();
    for (size_t i = 0; i < OPERATIONS; i++) {
        struct blob *mine = blob_ref(blob);
        bench_use((uint64_t)mine->data[0]);
        blob_unref(mine);
    }
    return bench_per_op(started_ns, OPERATIONS);
}

static double blob_theirs(void *context)
{
    const struct blob *blob = context;
    const uint64_t started_ns = bench_now_ns();
    for (size_t i = 0; i < OPERATIONS; i++) {
        char *mine = malloc(blob->len);
        if (mine == NULL)
            abort();
        memcpy(mine, blob->data, blob->len);
        bench_use((uint64_t)mine[0]);
        free(mine);
    }
    return bench_per_op(started_ns, OPERATIONS);
}

static void compare_blob(size_t bytes)
{
    struct blob *blob = blob_alloc(bytes);
    memset(blob->data, 'x', bytes);
    bench_compare(&(struct bench_pair){.operation = "blob ref+unref (bytes)",
                                       .size = bytes,
                                       .rival = "malloc+memcpy+free",
                                       .ours = blob_ours,
                                       .theirs = blob_theirs,
                                       .context = blob});
    blob_unref(blob);
}

#define PIECE_BYTES 24

static double buf_ours(void *context)
{
    const size_t pieces = *(const size_t *)context / PIECE_BYTES;
    const struct slice piece = SLICE_OF("abcdefghijklmnopqrstuvwx");
    struct buf buf;
    const uint64_t started_ns = bench_now_ns();
    for (size_t at = 0; at < OPERATIONS; at += pieces) {
        buf_init(&buf, SIZE_MAX / 4);
        for (size_t i = 0; i < pieces; i++)
            buf_add(&buf, piece);
        bench_use(buf.len);
        buf_close(&buf);
    }
    return bench_per_op(started_ns, (OPERATIONS + pieces - 1) / pieces * pieces);
}

/* What a hurried hand writes: exactly as much as is needed, each time. */
static double buf_theirs(void *context)
{
    const size_t pieces = *(const size_t *)context / PIECE_BYTES;
    const struct slice piece = SLICE_OF("abcdefghijklmnopqrstuvwx");
    const uint64_t started_ns = bench_now_ns();
    for (size_t at = 0; at < OPERATIONS; at += pieces) {
        char *data = NULL;
        size_t len = 0;
        for (size_t i = 0; i < pieces; i++) {
            char *grown = realloc(data, len + piece.len);
            if (grown == NULL)
                abort();
            data = grown;
            memcpy(data + len, piece.data, piece.len);
            len += piece.len;
        }
        bench_use(len);
        free(data);
    }
    return bench_per_op(started_ns, (OPERATIONS + pieces - 1) / pieces * pieces);
}

static void compare_buf(size_t bytes)
{
    bench_compare(&(struct bench_pair){.operation = "buf add 24 bytes (total)",
                                       .size = bytes,
                                       .rival = "realloc each time",
                                       .ours = buf_ours,
                                       .theirs = buf_theirs,
                                       .context = &bytes});
}

static double rand_ours(void *context)
{
    uint64_t sum = 0;
    const uint64_t started_ns = bench_now_ns();
    for (size_t i = 0; i < OPERATIONS; i++)
        sum += rand_u64(context);
    bench_use(sum);
    return bench_per_op(started_ns, OPERATIONS);
}

static double rand_below_ours(void *context)
{
    uint64_t sum = 0;
    const uint64_t started_ns = bench_now_ns();
    for (size_t i = 0; i < OPERATIONS; i++)
        sum += rand_below(context, 1000);
    bench_use(sum);
    return bench_per_op(started_ns, OPERATIONS);
}

static double rand_random(void *context)
{
    (void)context;
    uint64_t sum = 0;
    const uint64_t started_ns = bench_now_ns();
    for (size_t i = 0; i < OPERATIONS; i++)
        sum += (uint64_t)random();
    bench_use(sum);
    return bench_per_op(started_ns, OPERATIONS);
}

static double rand_random_modulo(void *context)
{
    (void)context;
    uint64_t sum = 0;
    const uint64_t started_ns = bench_now_ns();
    for (size_t i = 0; i < OPERATIONS; i++)
        sum += (uint64_t)(random() % 1000);
    bench_use(sum);
    return bench_per_op(started_ns, OPERATIONS);
}

static double rand_reentrant(void *context)
{
    (void)context;
    unsigned seed = 1;
    uint64_t sum = 0;
    const uint64_t started_ns = bench_now_ns();
    for (size_t i = 0; i < OPERATIONS; i++)
        sum += (uint64_t)rand_r(&seed);
    bench_use(sum);
    return bench_per_op(started_ns, OPERATIONS);
}

/* The rivals yield 31 bits a call, ours 64. */
static void compare_rand(void)
{
    struct rand rand;
    rand_init(&rand, 1);
    struct bench_pair pair = {.operation = "rand 64 bits",
                              .size = 1,
                              .context = &rand,
                              .rival = "random() 31 bits",
                              .ours = rand_ours,
                              .theirs = rand_random};
    bench_compare(&pair);
    pair.rival = "rand_r() 31 bits";
    pair.theirs = rand_reentrant;
    bench_compare(&pair);
    pair = (struct bench_pair){.operation = "rand below 1000",
                               .size = 1,
                               .context = &rand,
                               .rival = "random() % 1000",
                               .ours = rand_below_ours,
                               .theirs = rand_random_modulo};
    bench_compare(&pair);
}

int main(void)
{
    bench_print_header();
    compare_slab(1000);
    compare_slab(100000);
    compare_list(1000);
    compare_list(10000);
    compare_blob(64);
    compare_blob(2048);
    compare_blob(100000);
    compare_buf(480);
    compare_buf(96000);
    compare_rand();
    return bench_finish();
}

/* Blocks of stream-ordered memory: extents, the table, lists. Also marks of positions in streams, whose events are reused. */
#include "direct/pools/pool_blocks.h"

#include <pthread.h>
#include <unistd.h>

#include "direct/pools/held_stream.h"

#define BLOCKS 20000u /* more than buckets */

static struct stream_identity made;

/* An extent holds the bytes, is a multiple of 512, and is at most an eighth too large. Extents and classes grow with the bytes. */
static void extents(void)
{
    uint64_t before = 0;
    CHECK(pool_block_extent(1) == 512 && pool_block_extent(512) == 512 && pool_block_extent(513) == 1024);
    for (uint64_t bytes = 1; bytes < 1ULL << 40; bytes += 1 + bytes / 37) {
        uint64_t extent = pool_block_extent(bytes);
        CHECK(extent >= bytes && extent % 512 == 0 && extent >= before && pool_block_extent(extent) == extent);
        CHECK(bytes <= 4096 || extent - bytes <= bytes / 8);
        CHECK(pool_block_class(extent) < POOL_BLOCK_CLASSES &&
              (!before || pool_block_class(extent) >= pool_block_class(before)));
        before = extent;
    }
    CHECK(pool_block_extent(UINT64_MAX) == 0);
}

static void table(void)
{
    static struct pool_block *blocks[BLOCKS];
    for (unsigned i = 0; i < BLOCKS; i++) {
        blocks[i] = pool_block_new();
        CHECK(blocks[i] && !blocks[i]->pool && !blocks[i]->capture && !blocks[i]->mark.event);
        blocks[i]->pointer = 0x7f0000000000 + i * 512ULL;
        blocks[i]->capture = i; /* a new one is cleared, whatever the record held */
        pool_block_put(blocks[i]);
    }
    CHECK(pool_blocks_used == BLOCKS);
    for (unsigned i = 0; i < BLOCKS; i += 2) {
        pool_block_take(blocks[i]);
        pool_block_delete(blocks[i]);
    }
    CHECK(pool_blocks_used == BLOCKS / 2);
    for (unsigned i = 0; i < BLOCKS; i++)
        CHECK(pool_block_find(0x7f0000000000 + i * 512ULL) == (i % 2 ? blocks[i] : NULL));
    CHECK(!pool_block_find(0x7f0000000001));
    struct pool_block *again = pool_block_new();
    CHECK(again && again->capture == 0 && !again->pointer);
    pool_blocks_forked();
    CHECK(pool_blocks_used == 0 && !pool_block_find(blocks[1]->pointer) && pool_block_new());
}

static void lists(void)
{
    struct pool_block_list list = {0};
    struct pool_block *block[3] = {pool_block_new(), pool_block_new(), pool_block_new()};
    for (int i = 0; i < 3; i++)
        pool_block_append(&list, block[i]);
    CHECK(list.oldest == block[0] && list.newest == block[2] && block[0]->newer == block[1] &&
          block[2]->older == block[1]);
    pool_block_unlink(&list, block[1]);
    CHECK(block[0]->newer == block[2] && block[2]->older == block[0] && !block[1]->newer && !block[1]->older);
    pool_block_unlink(&list, block[0]);
    CHECK(list.oldest == block[2] && list.newest == block[2] && !block[2]->older);
    pool_block_append(&list, block[1]);
    pool_block_unlink(&list, block[1]);
    CHECK(list.oldest == block[2] && list.newest == block[2] && !block[2]->newer);
    pool_block_unlink(&list, block[2]);
    CHECK(!list.oldest && !list.newest);
}

static struct stream_identity identify(CUstream stream, uintptr_t otherwise)
{
    struct stream_identity identity;
    CHECK(stream_identify(stream, otherwise, &identity) == CUDA_SUCCESS && identity.context == driver.context);
    return identity;
}

static void *identify_own(void *identity)
{
    driver_use();
    *(struct stream_identity *)identity = identify(NULL, TESSERA_STREAM_PER_THREAD);
    return NULL;
}

static void identities(void)
{
    struct stream_identity legacy = identify(NULL, TESSERA_STREAM_LEGACY), other, own, same;
    pthread_t thread;
    driver.forbidden_calls = true;
    CHECK(stream_identify((CUstream)0x6000, TESSERA_STREAM_LEGACY, &other) == CUDA_ERROR_INVALID_HANDLE);
    driver.forbidden_calls = false;
    CHECK(stream_same(legacy, identify((CUstream)TESSERA_STREAM_LEGACY, TESSERA_STREAM_PER_THREAD)));
    CHECK(!stream_same(legacy, identify((CUstream)made.handle, TESSERA_STREAM_LEGACY)));
    identify_own(&own);
    identify_own(&same);
    CHECK(stream_same(own, same) && !stream_same(own, legacy));
    CHECK(pthread_create(&thread, NULL, identify_own, &other) == 0 && pthread_join(thread, NULL) == 0);
    CHECK(!stream_same(own, other)); /* each thread has its own */
}

/* A stream of another context, which the calling thread does not use. */
static struct stream_identity elsewhere(void)
{
    struct stream_identity stream;
    CUcontext context;
    CHECK(DRIVER(cuCtxCreate_v2)(&context, 0, 0) == CUDA_SUCCESS);
    stream = new_stream();
    stream.context = context;
    CHECK(DRIVER(cuCtxPopCurrent_v2)(&context) == CUDA_SUCCESS);
    return stream;
}

static void marks(void)
{
    struct stream_identity stream = identify((CUstream)made.handle, 0), other = elsewhere();
    struct stream_mark mark, second;
    hold(stream);
    CHECK(stream_mark_take(stream, &mark) == CUDA_SUCCESS && mark.event && stream_mark_of(&mark, driver.context));
    CHECK(!stream_mark_of(&mark, other.context) && CALLS(cuEventCreate) == 1);
    CHECK(!stream_mark_reached(&mark) && mark.event);
    let_go(stream);
    CHECK(stream_mark_reached(&mark) && !mark.event && stream_mark_reached(&mark));
    CHECK(stream_mark_take(stream, &mark) == CUDA_SUCCESS && CALLS(cuEventCreate) == 1); /* the same event */
    CHECK(stream_mark_take(stream, &second) == CUDA_SUCCESS && CALLS(cuEventCreate) == 2 && second.event != mark.event);
    stream_mark_drop(&mark);
    stream_mark_drop(&second);
    CHECK(stream_mark_take(other, &mark) == CUDA_SUCCESS && CALLS(cuEventCreate) == 3);
    stream_mark_drop(&mark);
    stream_marks_context_ended(driver.context);
    CHECK(stream_mark_take(stream, &mark) == CUDA_SUCCESS && CALLS(cuEventCreate) == 4);
    stream_mark_drop(&mark);

    stream_marks_context_ended(driver.context);
    REFUSE(cuEventCreate, CUDA_ERROR_OUT_OF_MEMORY); /* without an event, only the caller can set `reached` */
    CHECK(stream_mark_take(stream, &mark) == CUDA_SUCCESS && !mark.event && !stream_mark_reached(&mark));
    REFUSE(cuEventCreate, CUDA_SUCCESS);
    mark.reached = true;
    CHECK(stream_mark_reached(&mark) && CALLS(cuEventCreate) == 5);
    CHECK(stream_mark_take(stream, &mark) == CUDA_SUCCESS && mark.event && CALLS(cuEventCreate) == 6);
    stream_mark_drop(&mark);
    REFUSE(cuEventRecord, CUDA_ERROR_INVALID_HANDLE); /* the stream takes no event: the error, and the event is kept */
    CHECK(stream_mark_take(stream, &mark) == CUDA_ERROR_INVALID_HANDLE && !mark.event);
    REFUSE(cuEventRecord, CUDA_SUCCESS);
    CHECK(stream_mark_take(stream, &mark) == CUDA_SUCCESS && mark.event && CALLS(cuEventCreate) == 6);
    CHECK(CALLS(cuEventDestroy_v2) == 0);
}

int main(void)
{
    alarm(HANGS_S);
    driver_load();
    made = new_stream();
    extents();
    table();
    lists();
    identities();
    marks();
    return 0;
}

/*
 * Plan swap with a file as its only backing, on a file system that refuses: what finds no room stays on the device, nothing
 * is lost, and all of it can leave once there is room. Each case in a process of its own:
 *     swap_disk CASE
 */
#include <errno.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "swap_situation.h"

#define CHUNK (6 * MIB) /* of a device that shows CAPACITY */
#define CHUNKS 8

static CUdeviceptr memory[CHUNKS];
static bool without_fallocate;
static uint64_t disk_bytes = UINT64_MAX; /* that can be written yet */

/* In the place of the C library's, for the library as well: some file systems cannot tell in advance what is free. */
int fallocate(int file, int mode, off_t at, off_t bytes)
{
    if (without_fallocate && mode == 0) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_fallocate, file, mode, at, bytes);
}

/* A disk with this much room. */
ssize_t pwrite(int file, const void *from, size_t bytes, off_t at)
{
    uint64_t left = __atomic_load_n(&disk_bytes, __ATOMIC_SEQ_CST);
    if (left < bytes) {
        errno = ENOSPC;
        return -1;
    }
    if (left != UINT64_MAX)
        __atomic_store_n(&disk_bytes, left - bytes, __ATOMIC_SEQ_CST);
    return syscall(SYS_pwrite64, file, from, bytes, at);
}

static void fill_all(void)
{
    begin(CAPACITY);
    manager_words()->pinned_target = manager_words()->pageable_target = 0;
    grant();
    for (uint32_t i = 0; i < CHUNKS; i++)
        memory[i] = filled(CHUNK, 100 + i);
}

static void check_all(void)
{
    for (uint32_t i = 0; i < CHUNKS; i++)
        holds(memory[i], CHUNK, 100 + i);
}

/* Half of it finds room; the program gets all of it back, and writes to it. */
static void half_leaves(void)
{
    manager_order(TESSERA_TURN_CLOSED);
    manager_await_ack(TESSERA_ACK_CLOSED);
    manager_target(0);
    await_word(&manager_words()->resident_bytes, CHUNKS / 2 * CHUNK);
    await_word(&manager_words()->file_held, CHUNKS / 2 * CHUNK);
    manager_pause_us(100000); /* some more tries */
    EQUAL(CHUNKS / 2 * CHUNK, manager_words()->resident_bytes);
    bring_back();
    check_all();
    OKAY(cuMemsetD32_v2(memory[0], 100, CHUNK / 4));
}

/* Room came: all of it leaves, and a second time, in the same part of the file. */
static void all_leaves(void)
{
    for (int i = 0; i < 2; i++) {
        evict();
        bring_back();
        EQUAL(0, manager_words()->file_held);
        check_all();
    }
}

/* The kernel refuses to let files grow beyond a limit, with a signal that would end the program. */
static void limited(void)
{
    struct rlimit none, limit;
    OKAY(getrlimit(RLIMIT_FSIZE, &none));
    limit = none;
    fill_all(); /* before: the scripted driver has a file of its own */
    limit.rlim_cur = CHUNKS / 2 * CHUNK;
    OKAY(setrlimit(RLIMIT_FSIZE, &limit));
    half_leaves();
    limit.rlim_cur = CHUNKS * CHUNK;
    OKAY(setrlimit(RLIMIT_FSIZE, &limit));
    all_leaves();
}

/* Only writing tells that the disk is full, in the middle of a chunk. */
static void full(void)
{
    fill_all();
    without_fallocate = true;
    disk_bytes = CHUNKS / 2 * CHUNK + CHUNK / 2;
    half_leaves();
    CHECK(manager_words()->move_failures > 0);
    __atomic_store_n(&disk_bytes, UINT64_MAX, __ATOMIC_SEQ_CST);
    all_leaves();
}

static const struct situation situations[] = {{"limited", limited}, {"full", full}};

int main(int argc, char **argv)
{
    return run_situation(argc, argv, situations, sizeof situations / sizeof *situations);
}

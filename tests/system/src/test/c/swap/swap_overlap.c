/*
 * Plan swap: what goes on beside a step of a move that takes its time, and beside a capture; each case in a process of its
 * own:
 *     swap_overlap CASE
 */
#include <dlfcn.h>
#include <fcntl.h>

#include "cuda_constants.h"
#include "swap_situation.h"

#define CHUNK (6 * MIB) /* of a device that shows CAPACITY */
#define CHUNKS 8

static CUdeviceptr memory[CHUNKS];

static void fill_all(void)
{
    begin(CAPACITY);
    grant();
    for (uint32_t i = 0; i < CHUNKS; i++)
        memory[i] = filled(CHUNK, 100 + i);
}

static void check_all(void)
{
    for (uint32_t i = 0; i < CHUNKS; i++)
        holds(memory[i], CHUNK, 100 + i);
}

/* What the script's `hang ENTRY until PATH` waits for. */
static void let_go(const char *variable)
{
    const char *path = getenv(variable);
    CHECK(path);
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK(file >= 0);
    close(file);
}

/*
 * One page change hangs in the driver, on the way out, and one on the way in. All other chunks pass it; and what others give
 * up meanwhile is taken at once, though the chunk that came first is still on its way.
 */
static void page_change_hangs(void)
{
    fill_all();
    manager_order(TESSERA_TURN_CLOSED);
    manager_await_ack(TESSERA_ACK_CLOSED);
    manager_target(0);
    await_word(&manager_words()->resident_bytes, CHUNK);
    await_word(&manager_words()->moved_out_bytes, (CHUNKS - 1) * CHUNK);
    let_go("HANG_OUT");
    manager_await_resident(0);
    manager_target(CHUNK);
    manager_order(TESSERA_TURN_GRANTED);
    await_word(&manager_words()->resident_bytes, CHUNK);
    manager_target(CAPACITY);
    await_word(&manager_words()->moved_in_bytes, (CHUNKS - 1) * CHUNK);
    EQUAL(CHUNKS * CHUNK, manager_words()->resident_bytes);
    let_go("HANG_IN");
    manager_await_ack(TESSERA_ACK_OPEN);
    check_all();
}

/* Copies fail beside a capture that is open out of the library's sight, as one past its gate: the capture lives on. */
static void captured(void)
{
    void *driver = dlopen(getenv("TESSERA_DRIVER"), RTLD_NOW | RTLD_LOCAL);
    CHECK(driver);
    int (*begin_capture)(void *, int) = (int (*)(void *, int))dlsym(driver, "cuStreamBeginCapture_v2");
    int (*end_capture)(void *, void **) = (int (*)(void *, void **))dlsym(driver, "cuStreamEndCapture");
    CHECK(begin_capture && end_capture);
    void *stream, *graph = NULL;
    fill_all();
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    evict();
    OKAY(begin_capture(stream, 0)); /* global: calls of other threads break it, unless they relax their mode */
    bring_back();
    CHECK(manager_words()->move_failures > 0);
    OKAY(end_capture(stream, &graph));
    CHECK(graph);
    check_all();
}

static const struct situation situations[] = {{"page-change-hangs", page_change_hangs}, {"captured", captured}};

int main(int argc, char **argv)
{
    return run_situation(argc, argv, situations, sizeof situations / sizeof *situations);
}

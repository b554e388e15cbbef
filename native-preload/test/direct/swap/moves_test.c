/*
 * A program's memory leaves the device at the end of a turn and comes back before the next one, over a driver that fails once,
 * at each of its calls in turn: no contents are lost, the counts are right, and all memory goes back in the end. After
 * a fault of the context contents are lost, but nothing else. The test plays the manager, in the segment.
 *
 * A quick run fails each STEPth of the calls. The seed, which is the time, decides which ones: TESSERA_SEED repeats a run, and STEP
 * consecutive seeds fail every call. With TESSERA_LONG (tests/run --long) or
 * an argument every call fails in every way, which takes minutes.
 */
#include <sys/wait.h>
#include <time.h>

#include "moving_program.h"

#define LARGE_BYTES (5 * MIB) /* three chunks of a device of 64 MiB */
#define TOGETHER 32           /* runs at once: they mostly wait for retries */
/* Calls from one that fails to the next in a quick run, so that some of each kind fail. More with sanitizers, which make runs slower. */
#if defined __SANITIZE_THREAD__
#define STEP 101
#elif defined __SANITIZE_ADDRESS__
#define STEP 44
#else
#define STEP 22
#endif

static unsigned long long seed;

/* What a run tells the program that began it. */
struct told {
    unsigned calls;
};

struct run {
    bool pinned; /* host memory may be pinned; else it is pageable */
    unsigned fail_at;
    CUresult failure;
};

static void play(const struct run *run)
{
    open_device(run->pinned);
    struct held all[] = {allocate(LARGE_BYTES, 3), allocate(3000, 40), allocate(100000, 77), {0}};
    for (int i = 0; i < 3; i++)
        fill(&all[i]);
    if (run->pinned)
        await_pinned();
    leave();
    bool lost = driver.faulted; /* from now on nothing can be copied */
    CHECK(lost || now().swapped >= LARGE_BYTES);
    all[3] = allocate(3 * MIB, 99); /* addresses alone: the gate is closed */
    CHECK(driver_held() == 0);
    CHECK(swap_free(all[2].at) == CUDA_SUCCESS);
    come_back();
    for (int i = 0; i < 2 && !lost && !driver.faulted; i++)
        verify(&all[i]);
    fill(&all[3]);
    leave();
    come_back();
    for (int i = 0; i < 2 && !driver.faulted; i++)
        verify(&all[i]);
    if (!driver.faulted)
        verify(&all[3]);
    end((struct held[]){all[0], all[1], all[3]}, 3);
}

/* Each run is a process of its own, so that nothing is left of the one before. */
static pid_t begin(const struct run *run, struct told *told)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child)
        return child;
    alarm(HANGS_S);
    driver_load();
    driver.fail_at = run->fail_at;
    driver.failure = run->failure;
    driver.fails_by_fault = run->failure == DRIVER_FAULT;
    play(run);
    if (!run->fail_at)
        told->calls = driver.calls;
    _exit(0);
}

static void await(pid_t child, const struct run *run)
{
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    if (status == 0)
        return;
    fprintf(stderr, "moves: TESSERA_SEED=%llu, %s host memory, call %u fails with %d: the run ended with status %x\n",
            seed, run->pinned ? "pinned" : "pageable", run->fail_at, run->failure, status);
    exit(1);
}

/* Fails one call in each of many runs: every `step`th call of a run, beginning with one of the first `step`. */
static unsigned fail_everywhere(bool pinned, CUresult failure, unsigned step, struct told *told)
{
    struct run runs[TOGETHER] = {{.pinned = pinned}};
    pid_t children[TOGETHER];
    await(begin(&runs[0], told), &runs[0]);
    unsigned calls = told->calls, at = 1 + (unsigned)(seed % step), done = 0;
    CHECK(calls > 100);
    while (at <= calls) {
        unsigned count = 0;
        for (; count < TOGETHER && at <= calls; count++, at += step) {
            runs[count] = (struct run){pinned, at, failure};
            children[count] = begin(&runs[count], told);
        }
        for (unsigned i = 0; i < count; i++)
            await(children[i], &runs[i]);
        done += count;
    }
    return done;
}

int main(int count, char **arguments)
{
    ensure_settings(arguments);
    struct told *told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(told != MAP_FAILED);
    const char *set = getenv("TESSERA_SEED");
    seed = set ? strtoull(set, NULL, 10) : (unsigned long long)time(NULL);
    bool every = count > 1 || getenv("TESSERA_LONG");
    unsigned step = every ? 1 : STEP;
    printf("moves: seed %llu: call %llu of each %u\n", seed, 1 + seed % step, step);
    fflush(stdout); /* before there are children */
    unsigned runs = fail_everywhere(false, CUDA_ERROR_UNKNOWN, step, told);
    runs += fail_everywhere(false, CUDA_ERROR_OUT_OF_MEMORY, step, told);
    runs += fail_everywhere(false, DRIVER_FAULT, step, told);
    runs += fail_everywhere(true, CUDA_ERROR_UNKNOWN, step, told);
    if (every)
        runs += fail_everywhere(true, CUDA_ERROR_OUT_OF_MEMORY, 1, told) + fail_everywhere(true, DRIVER_FAULT, 1, told);
    printf("moves: %u failures\n", runs);
    return 0;
}

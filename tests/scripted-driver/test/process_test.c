/* Several processes: the witness, shared memory accounting, slices of GPU time, IPC, fork. Each case is a fork. */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"
#include "script/witness.h"

static char path[] = "/tmp/scripted-witness-XXXXXX";
static struct witness *seen;
static int ready[2], go[2];

static void fresh_witness(void)
{
    memset(seen, 0, sizeof *seen);
}

static void *start(void)
{
    void *context;
    OKAY(cuInit(0));
    OKAY(cuCtxCreate_v2(&context, 0, 0));
    return context;
}

uint64_t monotonic_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static void run(uint64_t us, int times)
{
    void *module, *f, *parameters[] = {&us};
    OKAY(cuModuleLoadData(&module, "image"));
    OKAY(cuModuleGetFunction(&f, module, "scripted_sleep_us"));
    for (int i = 0; i < times; i++)
        OKAY(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
}

static void tell(int fd)
{
    EQUAL(1, write(fd, "x", 1));
}

static void hear(int fd)
{
    char c;
    EQUAL(1, read(fd, &c, 1));
}

static pid_t child(void (*body)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        alarm(30);
        body();
        exit(0);
    }
    CHECK(pid > 0);
    return pid;
}

static void join(pid_t pid)
{
    int status;
    EQUAL(pid, waitpid(pid, &status, 0));
    EQUAL(0, status);
}

static void works_once(void)
{
    start();
    run(2000, 1);
    OKAY(cuCtxSynchronize());
}

static void works_at_a_signal(void)
{
    start();
    tell(ready[1]);
    hear(go[0]);
    run(50000, 1);
    OKAY(cuCtxSynchronize());
}

static void overlap_is_seen(void)
{
    fresh_witness();
    join(child(works_once));
    join(child(works_once));
    EQUAL(0, seen->device[0].overlaps);
    EQUAL(1, seen->device[0].most_processes);
    EQUAL(4, seen->device[0].intervals); /* inside and executing, twice */
    pid_t a = child(works_at_a_signal), b = child(works_at_a_signal);
    hear(ready[0]);
    hear(ready[0]);
    tell(go[1]);
    tell(go[1]);
    join(a);
    join(b);
    EQUAL(2, seen->device[0].most_processes);
    CHECK(seen->device[0].overlaps >= 1);
    const struct witness_overlap *o = &seen->device[0].overlap[0];
    CHECK((o->entering_pid == (uint32_t)a && o->present_pid == (uint32_t)b) ||
          (o->entering_pid == (uint32_t)b && o->present_pid == (uint32_t)a));
}

static void holds_half(void)
{
    CUdeviceptr p;
    start();
    OKAY(cuMemAlloc_v2(&p, 600 << 20));
    tell(ready[1]);
    run(20000000, 1);
    pause();
}

static void finds_half_taken(void)
{
    CUdeviceptr p;
    size_t free, total;
    start();
    OKAY(cuMemGetInfo_v2(&free, &total));
    EQUAL(424 << 20, free);
    EQUAL(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&p, 600 << 20));
}

static void finds_it_free(void)
{
    CUdeviceptr p;
    start();
    OKAY(cuMemAlloc_v2(&p, 600 << 20));
    run(1000, 1); /* the killed process was busy: that is no overlap */
    OKAY(cuCtxSynchronize());
}

static void the_dead_hold_nothing(void)
{
    fresh_witness();
    pid_t a = child(holds_half);
    hear(ready[0]);
    join(child(finds_half_taken));
    OKAY(kill(a, SIGKILL));
    siginfo_t info;
    OKAY(waitid(P_PID, (id_t)a, &info, WEXITED | WNOWAIT)); /* dead, and still a zombie */
    join(child(finds_it_free));
    EQUAL(0, seen->device[0].overlaps);
    EQUAL(a, waitpid(a, NULL, 0));
}

static void uses_slices(void)
{
    setenv("TESSERA_SCRIPT", "slices 2ms 500us", 1);
    start();
    tell(ready[1]);
    hear(go[0]);
    run(2000, 50);
    OKAY(cuCtxSynchronize());
}

/* Whether both were there at once long enough to change often: on a busy machine one may begin when the other is done. */
static int slices_change(void)
{
    fresh_witness();
    pid_t a = child(uses_slices), b = child(uses_slices);
    hear(ready[0]);
    hear(ready[0]);
    uint64_t began = monotonic_ns();
    tell(go[1]);
    tell(go[1]);
    join(a);
    join(b);
    CHECK(monotonic_ns() - began > 200000000); /* 200 ms of work, never at once */
    return seen->device[0].slice_switches >= 20;
}

static void slices_cost(void)
{
    int tries = 10;
    while (!slices_change())
        CHECK(--tries > 0);
}

static int handle_pipe[2];

static void exports(void)
{
    CUdeviceptr p;
    CUipcMemHandle h;
    start();
    OKAY(cuMemAlloc_v2(&p, 4096));
    OKAY(cuMemsetD32_v2(p, 0xabcd, 1024));
    OKAY(cuCtxSynchronize());
    OKAY(cuIpcGetMemHandle(&h, p));
    EQUAL(CUDA_ERROR_INVALID_CONTEXT, cuIpcOpenMemHandle_v2(&p, h, 1)); /* not in the exporting process */
    EQUAL(sizeof h, write(handle_pipe[1], &h, sizeof h));
    hear(go[0]);
    unsigned value;
    OKAY(cuMemcpyDtoH_v2(&value, p, 4));
    EQUAL(0x1111, value);
}

static void imports(void)
{
    CUdeviceptr p;
    CUipcMemHandle h;
    unsigned value;
    start();
    EQUAL(sizeof h, read(handle_pipe[0], &h, sizeof h));
    OKAY(cuIpcOpenMemHandle_v2(&p, h, 1));
    OKAY(cuMemcpyDtoH_v2(&value, p + 4092, 4));
    EQUAL(0xabcd, value);
    OKAY(cuMemsetD32_v2(p, 0x1111, 1));
    OKAY(cuIpcCloseMemHandle(p));
}

static void memory_is_shared(void)
{
    fresh_witness();
    pid_t a = child(exports);
    join(child(imports));
    tell(go[1]);
    join(a);
}

/* A child of a process that has initialised the driver cannot use it; one forked before can. */
static void forks_after(void)
{
    start();
    run(1000, 3);
    pid_t pid = fork();
    if (pid == 0) {
        int count;
        _exit(cuInit(0) == 3 && cuDeviceGetCount(&count) == 3 ? 0 : 1);
    }
    join(pid);
    OKAY(cuCtxSynchronize());
}

int main(void)
{
    int fd = mkstemp(path);
    CHECK(fd >= 0 && ftruncate(fd, sizeof *seen) == 0);
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(seen != MAP_FAILED);
    setenv("TESSERA_SCRIPT_WITNESS", path, 1);
    OKAY(pipe(ready));
    OKAY(pipe(go));
    OKAY(pipe(handle_pipe));
    alarm(60);
    overlap_is_seen();
    the_dead_hold_nothing();
    slices_cost();
    memory_is_shared();
    join(child(forks_after));
    unlink(path);
    return 0;
}

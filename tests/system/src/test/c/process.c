/* fork, exec, vfork and what children find. The first argument names the case. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

static void *context;

static void start(void)
{
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
}

static void work(void)
{
    CUdeviceptr p;
    unsigned value;
    OKAY(cuMemAlloc_v2(&p, 4096));
    OKAY(cuMemsetD32_v2(p, 42, 1024));
    OKAY(cuMemcpyDtoH_v2(&value, p + 4092, 4));
    EQUAL(42, value);
    OKAY(cuMemFree_v2(p));
}

static void reap(pid_t pid)
{
    int status;
    CHECK(pid > 0);
    EQUAL(pid, waitpid(pid, &status, 0));
    EQUAL(0, status);
}

static int tasks(void)
{
    int threads = 0;
    char line[256];
    FILE *f = fopen("/proc/self/status", "re");
    CHECK(f);
    while (fgets(line, sizeof line, f))
        sscanf(line, "Threads: %d", &threads);
    fclose(f);
    return threads;
}

/* The child of an initialised parent finds what it finds natively, has one thread, and the parent goes on. */
static void fork_after(void)
{
    start();
    work();
    for (int i = 0; i < 5; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            CUdeviceptr p;
            int count;
            EQUAL(CUDA_ERROR_NOT_INITIALIZED, cuInit(0));
            EQUAL(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
            EQUAL(CUDA_ERROR_NOT_INITIALIZED, cuMemAlloc_v2(&p, 16));
            EQUAL(1, tasks());
            exit(0);
        }
        reap(pid);
        work();
    }
}

/* Both use CUDA when the fork comes first. */
static void fork_before(void)
{
    pid_t pid = fork();
    start();
    for (int i = 0; i < 20; i++)
        work();
    if (pid == 0)
        exit(0);
    reap(pid);
}

/* A child of a child, while the grandparent keeps working. */
static void fork_twice(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        pid_t inner = fork();
        start();
        work();
        if (inner == 0)
            exit(0);
        reap(inner);
        exit(0);
    }
    start();
    for (int i = 0; i < 20; i++)
        work();
    reap(pid);
}

/*
 * A program's output must not go into a socket or file of the library, also if it was started without streams. The
 * driver's are its own.
 */
static void is_not_ours(int stream, int kept)
{
    char link[64], target[256] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", stream);
    if (readlink(link, target, sizeof target - 1) > 0 && strncmp(target, "/memfd:scripted", 15) != 0) {
        dprintf(kept, "descriptor %d is %s\n", stream, target);
        exit(1);
    }
}

static void closed_streams(void)
{
    int kept = dup(STDOUT_FILENO);
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        close(stream);
    start();
    for (int i = 0; i < 20; i++) {
        for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
            is_not_ours(stream, kept);
        work();
    }
    dup2(kept, STDOUT_FILENO);
}

static void execute(char *self, const char *how)
{
    char *arguments[] = {self, "work", NULL};
    start();
    work();
    if (strcmp(how, "exec") == 0) {
        execv(self, arguments);
        exit(1);
    }
    pid_t pid = vfork();
    if (pid == 0) {
        execv(self, arguments);
        _exit(1);
    }
    reap(pid);
    work();
    printf("done\n");
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    const char *what = argv[1];
    if (strcmp(what, "exec") == 0 || strcmp(what, "vfork") == 0) {
        execute(argv[0], what);
        return 0;
    }
    if (strcmp(what, "fork-after") == 0)
        fork_after();
    else if (strcmp(what, "fork-before") == 0)
        fork_before();
    else if (strcmp(what, "fork-twice") == 0)
        fork_twice();
    else if (strcmp(what, "closed-streams") == 0)
        closed_streams();
    else {
        start();
        work();
    }
    printf("done\n");
    return 0;
}

/* cuInit without a manager, and in the child of a program that used CUDA. */
#include "relay/entry/init.h"

#include <sys/wait.h>

#include "relay/player.h"
#include "relay_stubs.h"

static void without_a_manager(void)
{
    int count;
    CHECK(relay_cuInit(1) == CUDA_ERROR_INVALID_VALUE && relay_started() == CUDA_ERROR_NOT_INITIALIZED);
    CUresult first = relay_cuInit(0);
    CHECK(first != CUDA_SUCCESS && relay_started() == CUDA_ERROR_NOT_INITIALIZED);
    CHECK(relay_cuInit(0) == first);
    CHECK(relay_cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED &&
          relay_cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED);
}

/* cuInit has installed the fork handler. The child has no links or contexts of the parent's, and cannot initialise CUDA. */
static void in_a_child(void)
{
    int status, count;
    void *memory;
    CHECK(relay_cuMemHostAlloc(&memory, 100, 0) == CUDA_SUCCESS);
    pid_t child = fork();
    if (child == 0) {
        CHECK(relay_started() == CUDA_ERROR_NOT_INITIALIZED && !relay_current && relay_link_count == 0);
        CHECK(relay_cuInit(0) != CUDA_SUCCESS && relay_cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED);
        CHECK(relay_cuMemFreeHost(memory) == CUDA_ERROR_NOT_INITIALIZED &&
              relay_cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED);
        exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(relay_cuMemFreeHost(memory) == CUDA_SUCCESS &&
          relay_started() == CUDA_SUCCESS); /* the parent's links are as they were */
}

/* Settings are read when the library is loaded, so the test executes itself again with its own. */
static void with_settings(char *self)
{
    if (getenv("TESSERA_START_TEST"))
        return;
    /* A directory that exists, but in which no manager can listen. */
    CHECK(setenv("TESSERA_RUNTIME_DIR", "/proc/self", 1) == 0 && setenv("TESSERA_START_TEST", "1", 1) == 0);
    CHECK(setenv("TESSERA_QUIET", "1", 1) == 0 && setenv("TESSERA_SHARE", "space", 1) == 0);
    execl("/proc/self/exe", self, (char *)NULL);
    CHECK(false);
}

int main(int count, char **arguments)
{
    (void)count;
    with_settings(arguments[0]);
    alarm(HANGS_S);
    without_a_manager();
    player_begin();
    in_a_child();
    player_end();
    return 0;
}

/*
 * tessera-checkpoint: has the vendor's driver take a whole process off its GPUs, its contexts included, and bring it back.
 *     tessera-checkpoint suspend|restore PID
 * The manager runs it for `tessera evict --suspend`. It opens the vendor's driver by path, makes no context, and needs
 * driver 570 or newer. One line of JSON on stdout: {"ok":true} or {"ok":false,"step":"lock","code":801}.
 * Exit codes: 0 done, 1 refused by the driver, 2 wrong usage, 3 this driver cannot do it, or there is none.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/driver_types.h"
#include "driver/find_library.h"

#define LOCK_TIMEOUT_MS 10000u /* of work that still runs: the client was drained before */

enum { EXIT_REFUSED = 1, EXIT_USAGE = 2, EXIT_UNABLE = 3 };

/* CUcheckpointLockArgs of cuda.h 12.8; the others' arguments may be left out. */
struct lock_arguments {
    unsigned timeout_ms;
    unsigned reserved0;
    uint64_t reserved1[7];
};

typedef CUresult (*process_call)(int pid, void *arguments);

static int fail(const char *step, int code, int exit_code)
{
    printf("{\"ok\":false,\"step\":\"%s\",\"code\":%d}\n", step, code);
    return exit_code;
}

static void *open_driver(void)
{
    char path[PATH_MAX];
    const char *asked = getenv("TESSERA_DRIVER");
    if (asked && *asked)
        snprintf(path, sizeof path, "%s", asked);
    else if (!find_library("libcuda.so.1", path, sizeof path))
        return NULL;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static int suspend_process(void *driver, int pid)
{
    process_call lock = (process_call)dlsym(driver, "cuCheckpointProcessLock");
    process_call checkpoint = (process_call)dlsym(driver, "cuCheckpointProcessCheckpoint");
    process_call unlock = (process_call)dlsym(driver, "cuCheckpointProcessUnlock");
    if (!lock || !checkpoint || !unlock)
        return fail("symbols", CUDA_ERROR_NOT_FOUND, EXIT_UNABLE);
    struct lock_arguments arguments = {.timeout_ms = LOCK_TIMEOUT_MS};
    CUresult result = lock(pid, &arguments);
    if (result != CUDA_SUCCESS)
        return fail("lock", result, EXIT_REFUSED);
    result = checkpoint(pid, NULL);
    if (result == CUDA_SUCCESS)
        return EXIT_SUCCESS;
    CUresult unlocked = unlock(pid, NULL); /* it runs on as before */
    return fail(unlocked == CUDA_SUCCESS ? "checkpoint" : "unlock after a failed checkpoint", result, EXIT_REFUSED);
}

static int restore_process(void *driver, int pid)
{
    process_call restore = (process_call)dlsym(driver, "cuCheckpointProcessRestore");
    process_call unlock = (process_call)dlsym(driver, "cuCheckpointProcessUnlock");
    if (!restore || !unlock)
        return fail("symbols", CUDA_ERROR_NOT_FOUND, EXIT_UNABLE);
    CUresult result = restore(pid, NULL);
    if (result != CUDA_SUCCESS)
        return fail("restore", result, EXIT_REFUSED);
    result = unlock(pid, NULL);
    return result == CUDA_SUCCESS ? EXIT_SUCCESS : fail("unlock", result, EXIT_REFUSED);
}

int main(int argc, char **argv)
{
    char *end = NULL;
    long pid = argc == 3 ? strtol(argv[2], &end, 10) : 0;
    bool suspends = argc == 3 && strcmp(argv[1], "suspend") == 0;
    bool restores = argc == 3 && strcmp(argv[1], "restore") == 0;
    if (!(suspends || restores) || !end || *end || pid <= 0 || pid > INT_MAX) {
        fprintf(stderr, "usage: tessera-checkpoint suspend|restore PID\n");
        return EXIT_USAGE;
    }
    void *driver = open_driver();
    if (!driver)
        return fail("driver", CUDA_ERROR_NOT_FOUND, EXIT_UNABLE);
    CUresult (*init)(unsigned) = (CUresult(*)(unsigned))dlsym(driver, "cuInit");
    CUresult result = init ? init(0) : CUDA_ERROR_NOT_FOUND;
    if (result != CUDA_SUCCESS)
        return fail("init", result, EXIT_UNABLE);
    int code = suspends ? suspend_process(driver, (int)pid) : restore_process(driver, (int)pid);
    if (code == EXIT_SUCCESS)
        printf("{\"ok\":true}\n");
    return code;
}

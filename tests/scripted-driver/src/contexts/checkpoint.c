#include "contexts/checkpoint.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "script/clock.h"
#include "driver.h"
#include "entry.h"
#include "script/script.h"
#include "script/witness.h"

enum state { RUNNING = 0, LOCKED_STATE = 1, CHECKPOINTED = 2 };

static void name_of(int pid, char *path, size_t size)
{
    snprintf(path, size, "%s/%d", script.checkpoints, pid);
}

static enum state state_of(int pid)
{
    char path[300];
    name_of(pid, path, sizeof path);
    FILE *f = fopen(path, "re");
    int state = RUNNING;
    if (f && fscanf(f, "%d", &state) != 1)
        state = RUNNING;
    if (f)
        fclose(f);
    return (enum state)state;
}

/* From one state to another; the file is replaced whole. */
static CUresult change(int pid, enum state from, enum state to)
{
    char path[300], fresh[320];
    if (!script.checkpoints[0])
        return ERROR_NOT_SUPPORTED;
    if (pid <= 0 || kill(pid, 0) != 0)
        return ERROR_INVALID_VALUE;
    if (state_of(pid) != from)
        return ERROR_ILLEGAL_STATE;
    name_of(pid, path, sizeof path);
    if (to == RUNNING)
        return unlink(path) == 0 ? OK : ERROR_ILLEGAL_STATE;
    snprintf(fresh, sizeof fresh, "%s.new", path);
    FILE *f = fopen(fresh, "we");
    if (!f)
        return ERROR_ILLEGAL_STATE;
    fprintf(f, "%d", to);
    fclose(f);
    return rename(fresh, path) == 0 ? OK : ERROR_ILLEGAL_STATE;
}

static void hindrance_of(int pid, enum checkpoint_hindrance what, char *path, size_t size)
{
    static const char *const names[] = {"imports", "managed"};
    snprintf(path, size, "%s/%d.%s", script.checkpoints, pid, names[what]);
}

void checkpoint_holds(enum checkpoint_hindrance what, int change)
{
    static int held[CHECKPOINT_HINDRANCES];
    char path[300];
    held[what] += change;
    if (!script.checkpoints[0])
        return;
    hindrance_of(getpid(), what, path, sizeof path);
    FILE *f = held[what] > 0 ? fopen(path, "we") : NULL;
    if (f)
        fclose(f);
    else
        unlink(path);
}

static bool holds(int pid, enum checkpoint_hindrance what)
{
    char path[300];
    hindrance_of(pid, what, path, sizeof path);
    return script.checkpoints[0] && access(path, F_OK) == 0;
}

void checkpoint_wait(void)
{
    if (!script.checkpoints[0])
        return;
    uint64_t end = monotonic_ns() + script.bound_ns;
    while (state_of(getpid()) != RUNNING && monotonic_ns() < end)
        sleep_until_ns(monotonic_ns() + 2000000);
}

EXPORT CUresult cuCheckpointProcessLock(int pid, void *arguments)
{
    ENTER(cuCheckpointProcessLock);
    (void)arguments;
    return change(pid, RUNNING, LOCKED_STATE);
}

EXPORT CUresult cuCheckpointProcessCheckpoint(int pid, void *arguments)
{
    ENTER(cuCheckpointProcessCheckpoint);
    (void)arguments;
    if (holds(pid, CHECKPOINT_MANAGED))
        return ERROR_NOT_SUPPORTED;
    return change(pid, LOCKED_STATE, CHECKPOINTED);
}

EXPORT CUresult cuCheckpointProcessRestore(int pid, void *arguments)
{
    ENTER(cuCheckpointProcessRestore);
    (void)arguments;
    if (holds(pid, CHECKPOINT_IMPORTS))
        return ERROR_NOT_SUPPORTED;
    return change(pid, CHECKPOINTED, LOCKED_STATE);
}

EXPORT CUresult cuCheckpointProcessUnlock(int pid, void *arguments)
{
    ENTER(cuCheckpointProcessUnlock);
    (void)arguments;
    return change(pid, LOCKED_STATE, RUNNING);
}

EXPORT CUresult cuCheckpointProcessGetState(int pid, int *state)
{
    ENTER(cuCheckpointProcessGetState);
    if (!script.checkpoints[0])
        return ERROR_NOT_SUPPORTED;
    if (!state || pid <= 0 || kill(pid, 0) != 0)
        return ERROR_INVALID_VALUE;
    *state = state_of(pid);
    return OK;
}

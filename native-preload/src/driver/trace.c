#include "driver/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "driver/clock.h"
#include "driver/own_descriptor.h"
#include "driver/user.h"
#include "tessera_entries.h"
#include "driver/trace_answers.h"

/* The thunks of trace.S, 16 bytes apart. */
#define THUNKS 1024
#define THUNK_BYTES 16
extern char tessera_trace_thunks[];
_Static_assert(TESSERA_ENTRY_COUNT <= THUNKS, "one thunk an entry");

/* Nested calls: an entry may call back into the program, which calls entries again. Real programs nest less deeply. */
#define DEPTH 64

/* Recorded arguments, without floating-point numbers: six from registers, two from the stack. */
#define ARGUMENTS 8

/* Entries that write the address or handle of new memory through their first argument. The trace has this value instead of
 * the pointer, so that it shows which memory a later call frees. */
static const char *const memory_makers[] = {
    "cuMemAlloc_v2",
    "cuMemAllocPitch_v2",
    "cuMemAllocManaged",
    "cuMemAllocAsync",
    "cuMemAllocAsync_ptsz",
    "cuMemAllocFromPoolAsync",
    "cuMemAllocFromPoolAsync_ptsz",
    "cuMemAddressReserve",
    "cuMemCreate",
};
static unsigned char makes_memory[TESSERA_ENTRY_COUNT];

static void *target[TESSERA_ENTRY_COUNT];
static int file = -1;

struct frame {
    void *back;
    unsigned index;
    struct trace_waits before;
    uintptr_t arguments[ARGUMENTS];
};

/*
 * The thread's frames, DEPTH of them, allocated at its first call and never freed. A table in static TLS could keep
 * dlopen from loading the library, because static TLS is scarce there, and few programs are traced.
 */
static __thread struct frame *frames;
static __thread int depth;
__thread struct trace_waits trace_waits __attribute__((tls_model("initial-exec")));

static void lost(void)
{
    static int said;
    if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
        driver_say("TESSERA_TRACE: a line could not be written (%s): the trace has holes", strerror(errno));
}

/* What trace.S does next: it jumps to `to`, which returns to `back`. The structure is returned in two registers. */
struct step {
    void *to, *back;
};
extern void tessera_trace_left(void);
struct step tessera_trace_enter(uintptr_t index, void *back, const uintptr_t *saved);
void *tessera_trace_leave(uintptr_t result);

/*
 * saved: r9, r8, rcx, rdx, rsi, rdi, rax, the index, the return address, then the caller's stack arguments. If the entry has fewer
 * than eight arguments, some other variable of the caller is read instead; only AddressSanitizer would report that.
 */
__attribute__((no_sanitize("address"))) struct step tessera_trace_enter(uintptr_t index, void *back,
                                                                        const uintptr_t *saved)
{
    if (depth == DEPTH)
        return (struct step){target[index], back}; /* too deep to note */
    if (!frames && !(frames = calloc(DEPTH, sizeof *frames))) {
        lost();
        return (struct step){target[index], back};
    }
    frames[depth].back = back;
    frames[depth].before = trace_waits;
    for (int i = 0; i < 6; i++)
        frames[depth].arguments[i] = saved[5 - i];
    frames[depth].arguments[6] = saved[9];
    frames[depth].arguments[7] = saved[10];
    frames[depth++].index = (unsigned)index;
    return (struct step){target[index], (void *)tessera_trace_left};
}

void *tessera_trace_leave(uintptr_t result)
{
    int kept = errno;
    depth--;
    uintptr_t *a = frames[depth].arguments;
    if (makes_memory[frames[depth].index] && (int)result == 0)
        memcpy(&a[0], (const void *)a[0], sizeof a[0]); /* the call succeeded, so the pointer is valid */
    const struct trace_waits *before = &frames[depth].before;
    char line[320 + TRACE_ANSWERS_BYTES], told[TRACE_ANSWERS_BYTES];
    trace_answers(frames[depth].index, (int)result, a, told);
    int length = snprintf(line, sizeof line, "%llu %ld %s %d %lx %lx %lx %lx %lx %lx %lx %lx %u %u%s\n",
                          (unsigned long long)monotonic_ns() / 1000, syscall(SYS_gettid),
                          tessera_entry_name[frames[depth].index], (int)result, a[0], a[1], a[2], a[3], a[4], a[5],
                          a[6], a[7], trace_waits.answers - before->answers, trace_waits.words - before->words, told);
    if (length > 0 && write(file, line, (size_t)length) != length)
        lost(); /* a full disk costs lines, not the program */
    errno = kept;
    return frames[depth].back;
}

void trace_port(void)
{
    const char *path = getenv("TESSERA_TRACE");
    if (!path || !*path)
        return;
    file = own_descriptor(open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (file < 0) {
        driver_say("TESSERA_TRACE=%s cannot be opened: no trace", path);
        return;
    }
    trace_answers_prepare();
    for (unsigned i = 0; i < TESSERA_ENTRY_COUNT; i++) {
        for (size_t m = 0; m < sizeof memory_makers / sizeof *memory_makers; m++)
            makes_memory[i] |= !strcmp(tessera_entry_name[i], memory_makers[m]);
        target[i] = tessera_port[i];
        __atomic_store_n(&tessera_port[i], tessera_trace_thunks + (size_t)i * THUNK_BYTES, __ATOMIC_RELEASE);
    }
}

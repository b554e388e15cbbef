/* The hand-written side of the library under test: a resolver that does its worst to registers, and a gate that notes. */
#include <dlfcn.h>
#include <execinfo.h>
#include <stdlib.h>

#include "direct/turns/gate.h"
#include "direct/entry/sync.h"

struct noted {
    unsigned resolved;
    unsigned misaligned;
    int shallowest;
    unsigned entered;
    unsigned left;
    unsigned kind;
    uintptr_t stream;
    CUresult result;
    unsigned waits;
};

TESSERA_EXPORT struct noted noted = {.shallowest = 1000};

static void *vendor;

TESSERA_EXPORT void use_vendor(const char *path)
{
    vendor = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!vendor) {
        abort();
    }
}

void *tessera_resolve(unsigned index)
{
    void *frames[16];
    int depth = backtrace(frames, 16);
    if (depth < noted.shallowest) {
        noted.shallowest = depth;
    }
    _Alignas(16) char aligned[16];
    __asm__ volatile("movaps %%xmm0, %0" : "=m"(aligned)); /* faults where the compiler's assumption is broken */
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    noted.misaligned += frame % 16 != 0;
    void *entry = dlsym(vendor, tessera_entry_name[index]);
    if (!entry) {
        abort();
    }
    __atomic_store_n(&tessera_real[index], entry, __ATOMIC_RELAXED);
    noted.resolved++;
    __asm__ volatile("pcmpeqd %%xmm0, %%xmm0\n\tpcmpeqd %%xmm1, %%xmm1\n\tpcmpeqd %%xmm2, %%xmm2\n\t"
                     "pcmpeqd %%xmm3, %%xmm3\n\tpcmpeqd %%xmm4, %%xmm4\n\tpcmpeqd %%xmm5, %%xmm5\n\t"
                     "pcmpeqd %%xmm6, %%xmm6\n\tpcmpeqd %%xmm7, %%xmm7\n\t"
                     "mov $-1, %%rdi\n\tmov $-1, %%rsi\n\tmov $-1, %%rdx\n\tmov $-1, %%rcx\n\tmov $-1, %%r8\n\t"
                     "mov $-1, %%r9\n\tmov $-1, %%r10\n\tmov $-1, %%r11"
                     :
                     :
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "rdi", "rsi", "rdx", "rcx", "r8",
                       "r9", "r10", "r11");
    return entry;
}

struct gate_pass gate_enter(unsigned kind, uintptr_t stream)
{
    noted.entered++;
    noted.kind = kind;
    noted.stream = stream;
    return (struct gate_pass){noted.entered};
}

void gate_leave(struct gate_pass pass, CUresult result)
{
    noted.left += pass.ticket == noted.entered;
    noted.result = result;
}

struct sync_pass sync_enter(void)
{
    return (struct sync_pass){5};
}

void sync_leave(struct sync_pass pass, CUresult result)
{
    noted.waits += pass.ticket == 5;
    noted.result = result;
}

TESSERA_EXPORT CUresult cuOwn(int value)
{
    return 1 + REAL(cuOwn)(value);
}

/* What the library claims to hook, for the caller to see. */
TESSERA_EXPORT unsigned hooked_where(const void *function)
{
    for (unsigned i = 0; i < tessera_hooked_count; i++) {
        if (tessera_hooked[i].hook == function) {
            return tessera_hooked[i].entry;
        }
    }
    return TESSERA_ENTRY_COUNT;
}

TESSERA_EXPORT const char *entry_name(unsigned index)
{
    return index < TESSERA_ENTRY_COUNT ? tessera_entry_name[index] : "none";
}

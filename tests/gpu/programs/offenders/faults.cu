// Faults of kernels, one each, as machine code alone.
#include "faults.h"

#include <cassert>
#include <cstring>
#include <cuda_runtime.h>

namespace {

__constant__ int constants[16];

__device__ int at(const int *p, long long bytes) { return *(const volatile int *) ((const char *) p + bytes); }

__global__ void misaligned_load(int *p) { p[0] = at(p, 65); }
__global__ void misaligned_store(int *p) { *(volatile int *) ((char *) p + 66) = 7; }
__global__ void misaligned_wide(int *p, int odd) { *(float4 *) (p + odd) = make_float4(1, 2, 3, 4); }
__global__ void misaligned_atomic(int *p) { atomicAdd((int *) ((char *) p + 66), 1); }
__global__ void misaligned_shared(int *p, int odd) {
    extern __shared__ char room[];
    *(volatile int *) (room + odd) = 7;
    p[0] = *(volatile int *) (room + odd);
}
__global__ void misaligned_local(int *p, int odd) {
    char room[64];
    for (int i = 0; i < 64; i++)
        room[i] = (char) (p[i] + i);
    *(volatile int *) (room + odd) = 7;
    p[0] = room[odd + 1] + room[p[1] & 63];
}
__global__ void shared_beyond(int *p, int far) {
    extern __shared__ int words[];
    *(volatile int *) (words + far) = 7;
    p[0] = *(volatile int *) (words + far);
}
__global__ void local_beyond(int *p, int far) {
    int room[16];
    for (int i = 0; i < 16; i++)
        room[i] = p[i];
    room[far] = 7;
    p[0] = room[p[1] & 15] + room[far / 2];
}
__global__ void constants_beyond(int *p, int far) { p[0] = constants[far]; }
__device__ __noinline__ int deeper(int *p, int depth) {
    volatile int room[64];
    for (int i = 0; i < 64; i++)
        room[i] = depth + i;
    return depth == 0 ? p[0] : deeper(p, depth - 1) + room[depth & 63];
}
__global__ void stack(int *p, int depth) { p[0] = deeper(p, depth); }
__global__ void null_load(int *p, const int *null) { p[0] = at(null, 0); }
__global__ void null_store(int *null) { *(volatile int *) null = 7; }
__global__ void far_load(int *p) { p[0] = at(p, 1ll << 46); }
__global__ void wild_call(int *p, void (*called)()) {
    called();
    p[0] = 7;
}
__global__ void texture(int *p, cudaTextureObject_t handle) { p[0] = tex1Dfetch<int>(handle, 3); }
__global__ void barrier_count(int threads) { asm volatile("bar.sync 1, %0;" ::"r"(threads)); }
__global__ void trap() { asm volatile("trap;"); }
__global__ void breakpoint() { asm volatile("brkpt;"); }
__global__ void assertion(int *p) { assert(p[0] == 12345); }

struct Fault {
    const char *name;
    void (*launch)(int *);
};

const Fault faults[] = {
    {"misaligned_load", [](int *p) { misaligned_load<<<1, 32>>>(p); }},
    {"misaligned_store", [](int *p) { misaligned_store<<<1, 32>>>(p); }},
    {"misaligned_wide", [](int *p) { misaligned_wide<<<1, 32>>>(p, 1); }},
    {"misaligned_atomic", [](int *p) { misaligned_atomic<<<1, 32>>>(p); }},
    {"misaligned_shared", [](int *p) { misaligned_shared<<<1, 32, 1024>>>(p, 5); }},
    {"misaligned_local", [](int *p) { misaligned_local<<<1, 32>>>(p, 5); }},
    {"shared_beyond", [](int *p) { shared_beyond<<<1, 32, 1024>>>(p, 1 << 20); }},
    {"local_beyond", [](int *p) { local_beyond<<<1, 32>>>(p, 1 << 26); }},
    {"constants_beyond", [](int *p) { constants_beyond<<<1, 32>>>(p, 1 << 20); }},
    {"stack", [](int *p) { stack<<<1, 32>>>(p, 100000); }},
    {"null_load", [](int *p) { null_load<<<1, 32>>>(p, nullptr); }},
    {"null_store", [](int *) { null_store<<<1, 32>>>(nullptr); }},
    {"far_load", [](int *p) { far_load<<<1, 32>>>(p); }},
    {"wild_call", [](int *p) { wild_call<<<1, 32>>>(p, (void (*)()) (void *) p); }},
    {"texture", [](int *p) { texture<<<1, 32>>>(p, 0x1234567); }},
    {"barrier_count", [](int *) { barrier_count<<<1, 64>>>(48); }},
    {"trap", [](int *) { trap<<<1, 32>>>(); }},
    {"breakpoint", [](int *) { breakpoint<<<1, 32>>>(); }},
    {"assertion", [](int *p) { assertion<<<1, 32>>>(p); }},
};

} // namespace

bool launch_fault(const char *name, int *memory) {
    for (const Fault &fault : faults)
        if (!strcmp(fault.name, name)) {
            fault.launch(memory);
            return true;
        }
    return false;
}

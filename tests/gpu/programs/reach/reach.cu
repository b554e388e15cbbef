// The program of the suite `reach`: kernels that exist as machine code only and reach for an address by one instruction each.
//   reach hold            fills memory with a pattern, prints its address, waits for a line, prints how many words have changed
//   reach own FORM        reaches for its own memory, and says whether that had the effect that it must have
//   reach ADDRESS FORM    reaches for an address (hexadecimal), and says what it read there
//   reach forms           prints the forms
// Addresses travel as two words of 32 bits that do not lie beside each other: images that run as they are have their arguments searched for pointers.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                   \
    do {                                                                              \
        cudaError_t result_ = (call);                                                 \
        if (result_ != cudaSuccess) {                                                 \
            printf("error %d %s\n", (int)result_, cudaGetErrorString(result_));       \
            exit(3);                                                                  \
        }                                                                             \
    } while (0)

constexpr uint32_t PATTERN = 0x11111111u;
constexpr uint32_t HELD = 0x22222222u; // what a neighbour holds, so that a word tells whose it is
constexpr uint32_t MARK = 0xdeadbeefu;
constexpr size_t WORDS = 16u << 20;
constexpr size_t MIDDLE = WORDS / 2;

__device__ uint32_t *pointer(uint32_t low, uint32_t high) {
    return reinterpret_cast<uint32_t *>(static_cast<uint64_t>(high) << 32 | low);
}

#define KERNEL(name) extern "C" __global__ void name(uint32_t low, uint32_t *out, uint32_t high)

KERNEL(store) { *pointer(low, high) = MARK; }
KERNEL(load) { *out = *reinterpret_cast<volatile uint32_t *>(pointer(low, high)); }
KERNEL(store_wide) { *reinterpret_cast<uint4 *>(pointer(low, high)) = make_uint4(MARK, MARK, MARK, MARK); }
KERNEL(store_byte) { *reinterpret_cast<uint8_t *>(pointer(low, high)) = 0xef; }
KERNEL(store_offset) { asm volatile("st.global.u32 [%0+8388604], %1;" ::"l"(pointer(low, high) - 2097151), "r"(MARK)); }
KERNEL(load_offset) { uint32_t v; asm volatile("ld.global.u32 %0, [%1+-8388608];" : "=r"(v) : "l"(pointer(low, high) + 2097152)); *out = v; }
KERNEL(load_constant) { uint32_t v; asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(pointer(low, high))); *out = v; }
KERNEL(store_generic) { asm volatile("st.u32 [%0], %1;" ::"l"(pointer(low, high)), "r"(MARK)); }
KERNEL(load_generic) { uint32_t v; asm volatile("ld.u32 %0, [%1];" : "=r"(v) : "l"(pointer(low, high))); *out = v; }
KERNEL(add) { *out = atomicAdd(pointer(low, high), 1u); }
KERNEL(add_float) { atomicAdd(reinterpret_cast<float *>(pointer(low, high)), 1.0f); }
KERNEL(exchange) { *out = atomicExch(pointer(low, high), MARK); }
KERNEL(compare_and_swap) { *out = atomicCAS(pointer(low, high), PATTERN, MARK); }
KERNEL(compare_and_swap_wide) { *out = (uint32_t)atomicCAS(reinterpret_cast<unsigned long long *>(pointer(low, high)), 0x1111111111111111ull, ~0ull); }
KERNEL(reduce) { asm volatile("red.global.add.u32 [%0], %1;" ::"l"(pointer(low, high)), "r"(1)); }
KERNEL(copy_async) {
    __shared__ uint32_t words[4];
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;\ncp.async.wait_all;" ::"r"((uint32_t)__cvta_generic_to_shared(words)), "l"(pointer(low, high)));
    *out = words[0];
}
KERNEL(in_loop) {
    for (uint32_t *p = pointer(low, high), *end = p + blockDim.x; p < end; p += 32) {
        *p = MARK;
    }
}
KERNEL(under_condition) {
    uint32_t *p = threadIdx.x == 0 ? pointer(low, high) : out;
    if (out[1] != 7) {
        *p = MARK;
    }
}
__device__ __noinline__ void called(uint32_t *p, uint32_t value) { *p = value; }
KERNEL(in_call) { called(pointer(low, high), MARK); called(out + 1, MARK); }
KERNEL(by_switch) {
    switch (out[2] & 7) {
        case 0: *pointer(low, high) = MARK; break;
        case 1: pointer(low, high)[1] = low; break;
        case 2: atomicAdd(out, 5u); break;
        case 3: out[3] = high * 3; break;
        case 4: out[4] = low ^ high; break;
        case 5: out[5] = low / (high | 1); break;
        default: out[6] = 1;
    }
}

struct Form {
    const char *name;
    void (*kernel)(uint32_t, uint32_t *, uint32_t);
    bool writes;
};
#define WRITES(name) {#name, name, true}
#define READS(name) {#name, name, false}
static const Form FORMS[] = {
    WRITES(store), READS(load), WRITES(store_wide), WRITES(store_byte), WRITES(store_offset), READS(load_offset), READS(load_constant),
    WRITES(store_generic), READS(load_generic), WRITES(add), WRITES(add_float), WRITES(exchange), WRITES(compare_and_swap),
    WRITES(compare_and_swap_wide), WRITES(reduce), READS(copy_async), WRITES(in_loop), WRITES(under_condition), WRITES(in_call), WRITES(by_switch),
};

static size_t changed(const uint32_t *memory, uint32_t pattern) {
    std::vector<uint32_t> host(WORDS);
    CHECK(cudaMemcpy(host.data(), memory, WORDS * 4, cudaMemcpyDeviceToHost));
    size_t count = 0;
    for (uint32_t word : host) {
        count += word != pattern;
    }
    return count;
}

int main(int argc, char **argv) {
    if (argc == 2 && !strcmp(argv[1], "forms")) {
        for (const Form &form : FORMS) {
            printf("%s\n", form.name);
        }
        return 0;
    }
    if (argc < 2) {
        fprintf(stderr, "usage: reach hold | forms | own FORM | ADDRESS FORM\n");
        return 2;
    }
    uint32_t *memory;
    CHECK(cudaMalloc(&memory, WORDS * 4));
    bool holds = !strcmp(argv[1], "hold");
    std::vector<uint32_t> pattern(WORDS, holds ? HELD : PATTERN);
    CHECK(cudaMemcpy(memory, pattern.data(), WORDS * 4, cudaMemcpyHostToDevice));
    if (holds) {
        printf("%llx\n", (unsigned long long)(memory + MIDDLE));
        fflush(stdout);
        char line[16];
        while (fgets(line, sizeof line, stdin) && line[0] != 'q') {
            printf("%zu\n", changed(memory, HELD));
            fflush(stdout);
        }
        return 0;
    }
    bool own = !strcmp(argv[1], "own");
    uint64_t address = own ? (uint64_t)(memory + MIDDLE) : strtoull(argv[1], nullptr, 16);
    uint32_t *out;
    CHECK(cudaMalloc(&out, 64));
    CHECK(cudaMemset(out, 0, 64));
    for (const Form &form : FORMS) {
        if (argc < 3 || strcmp(form.name, argv[2])) {
            continue;
        }
        form.kernel<<<1, 32>>>((uint32_t)address, out, (uint32_t)(address >> 32));
        CHECK(cudaDeviceSynchronize());
        uint32_t read;
        CHECK(cudaMemcpy(&read, out, 4, cudaMemcpyDeviceToHost));
        size_t here = changed(memory, PATTERN);
        printf("read %x changed %zu%s\n", read, here, !own ? "" : form.writes == (here > 0) && (form.writes || read == PATTERN) ? " right" : " WRONG");
        return 0;
    }
    fprintf(stderr, "reach: no form %s\n", argc > 2 ? argv[2] : "");
    return 2;
}

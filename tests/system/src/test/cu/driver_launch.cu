/*
 * A driver-API program as a user writes it: NVIDIA's header, a compiled kernel, libcuda at link time.
 *     driver_launch IMAGE ROUNDS
 * Copies words to the device, overwrites a part of them with the kernel of the image, copies them back and checks every
 * word; ROUNDS times. Says "ready" and waits for a line on stdin, then "right WORDS" with a checksum, and waits again.
 */
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

static void okay(CUresult result, const char *call)
{
    if (result == CUDA_SUCCESS)
        return;
    const char *name = "?";
    cuGetErrorName(result, &name);
    std::fprintf(stderr, "%s: %s\n", call, name);
    std::exit(1);
}
#define OKAY(call) okay(call, #call)

static const unsigned WORDS = 1 << 16, FILLED = 1 << 15, BLOCK = 256;

static unsigned round_trip(CUfunction fill, CUstream stream, CUdeviceptr memory, unsigned mark)
{
    std::vector<unsigned> words(WORDS);
    for (unsigned i = 0; i < WORDS; i++)
        words[i] = i * 2654435761u + mark;
    OKAY(cuMemcpyHtoD(memory, words.data(), WORDS * 4));
    unsigned long long pointer = memory, count = FILLED;
    void *parameters[] = {&pointer, &mark, &count};
    OKAY(cuLaunchKernel(fill, FILLED / BLOCK, 1, 1, BLOCK, 1, 1, 0, stream, parameters, nullptr));
    OKAY(cuStreamSynchronize(stream));
    std::vector<unsigned> back(WORDS);
    OKAY(cuMemcpyDtoH(back.data(), memory, WORDS * 4));
    unsigned sum = 0;
    for (unsigned i = 0; i < WORDS; i++) {
        unsigned expected = i < FILLED ? mark : words[i];
        if (back[i] != expected) {
            std::fprintf(stderr, "word %u is %u, not %u\n", i, back[i], expected);
            std::exit(1);
        }
        sum = sum * 31 + back[i];
    }
    return sum;
}

static void wait_after(const char *line)
{
    std::puts(line);
    std::fflush(stdout);
    std::getchar();
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    std::ifstream file(argv[1], std::ios::binary);
    std::vector<char> image((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction fill;
    CUstream stream;
    CUdeviceptr memory;
    int devices = 0;
    OKAY(cuInit(0));
    OKAY(cuDeviceGetCount(&devices));
    OKAY(cuDeviceGet(&device, 0));
    OKAY(cuDevicePrimaryCtxRetain(&context, device));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuModuleLoadData(&module, image.data()));
    OKAY(cuModuleGetFunction(&fill, module, "scripted_fill"));
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OKAY(cuMemAlloc(&memory, WORDS * 4));
    wait_after("ready");
    unsigned sum = 0;
    for (int i = 0; i < std::atoi(argv[2]); i++)
        sum = sum * 31 + round_trip(fill, stream, memory, 0x1000u + i);
    char line[64];
    std::snprintf(line, sizeof line, "right %u of %d devices", sum, devices);
    wait_after(line);
    OKAY(cuMemFree(memory));
    OKAY(cuStreamDestroy(stream));
    OKAY(cuModuleUnload(module));
    OKAY(cuDevicePrimaryCtxRelease(device));
    return 0;
}

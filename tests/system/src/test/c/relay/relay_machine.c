/*
 * A program whose kernels are machine code, in space sharing:
 *     relay_machine CUBIN
 * It loads the file and says "ready". Then it takes names of kernels, a line each: launches the kernel, waits, and says "ok" or "error N" with the
 * first error of the launch and the wait. "unload" unloads the module, "quit" ends.
 * Needs a device that takes machine code.
 */
#include <string.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

enum { MOST_BYTES = 1 << 20 };

static char image[MOST_BYTES];

static void read_image(const char *path)
{
    FILE *file = fopen(path, "rb");
    CHECK(file);
    CHECK(fread(image, 1, sizeof image, file) > 0);
    fclose(file);
}

static CUresult run(void *module, void *stream, const char *name)
{
    void *kernel;
    CUdeviceptr memory = 0;
    uint64_t number = 0;
    void *parameters[] = {&memory, &number, &number};
    CUresult error = cuModuleGetFunction(&kernel, module, name);
    if (!error)
        error = cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL);
    CUresult later = cuStreamSynchronize(stream);
    return error ? error : later;
}

int main(int argc, char **argv)
{
    void *context, *module, *stream;
    char line[64];
    CHECK(argc == 2);
    read_image(argv[1]);
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OKAY(cuModuleLoadData(&module, image));
    printf("ready\n");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (strcmp(line, "quit") == 0)
            break;
        CUresult error = strcmp(line, "unload") == 0 ? cuModuleUnload(module) : run(module, stream, line);
        if (error)
            printf("error %d\n", error);
        else
            printf("ok\n");
        fflush(stdout);
    }
    return 0;
}

/* The JIT's linker: two pieces of PTX become one image; the log names what is missing. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        CUresult result = (call);                                                                                      \
        if (result != CUDA_SUCCESS) {                                                                                  \
            const char *name = "?";                                                                                    \
            cuGetErrorName(result, &name);                                                                             \
            printf("FAILED %s: %s\n", #call, name);                                                                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

static char kernel[] = HEAD ".extern .func (.param .b32 out) twice(.param .b32 in);\n"
                            ".visible .entry work(.param .u64 to) {\n"
                            "  .reg .b32 %r<3>; .reg .b64 %d<2>;\n  ld.param.u64 %d1, [to];\n  mov.u32 %r1, 21;\n"
                            "  { .param .b32 given; .param .b32 got; st.param.b32 [given], %r1;\n"
                            "    call.uni (got), twice, (given); ld.param.b32 %r2, [got]; }\n"
                            "  st.global.u32 [%d1], %r2;\n  ret;\n}\n";
static char function[] = HEAD ".visible .func (.param .b32 out) twice(.param .b32 in) {\n"
                              "  .reg .b32 %r<3>;\n  ld.param.b32 %r1, [in];\n  add.u32 %r2, %r1, %r1;\n"
                              "  st.param.b32 [out], %r2;\n  ret;\n}\n";

static void say(const char *what, long got, long wanted)
{
    printf("%s %ld %s\n", what, got, got == wanted ? "ok" : "WRONG");
}

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction work;
    CUdeviceptr data;
    CUlinkState link;
    void *image;
    size_t bytes = 0;
    unsigned got = 0;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));

    CHECK(cuLinkCreate(0, NULL, NULL, &link));
    CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, kernel, sizeof kernel, "kernel", 0, NULL, NULL));
    CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, function, sizeof function, NULL, 0, NULL, NULL));
    CHECK(cuLinkComplete(link, &image, &bytes));
    CHECK(cuModuleLoadData(&module, image));
    CHECK(cuLinkDestroy(link));
    CHECK(cuModuleGetFunction(&work, module, "work"));
    CHECK(cuMemAlloc(&data, 4));
    void *parameters[] = {&data};
    CHECK(cuLaunchKernel(work, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    CHECK(cuMemcpyDtoH(&got, data, sizeof got));
    say("linked and run", got, 42);
    CHECK(cuModuleUnload(module));

    char error[4096] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {error, (void *)sizeof error};
    CHECK(cuLinkCreate(2, options, values, &link));
    CUresult result = cuLinkAddData(link, CU_JIT_INPUT_PTX, kernel, sizeof kernel, "kernel", 0, NULL, NULL);
    if (result == CUDA_SUCCESS)
        result = cuLinkComplete(link, &image, &bytes);
    say("a missing function is an error", result != CUDA_SUCCESS, 1);
    say("that the log names", strstr(error, "twice") != NULL, 1);
    CHECK(cuLinkDestroy(link));
    CHECK(cuMemFree(data));
    return 0;
}

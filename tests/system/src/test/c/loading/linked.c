/* A program that needs libcuda.so.1 at link time: which library's entries does it get, and does memory work? */
#include <dlfcn.h>
#include <string.h>

#include "check.h"
#include "cuda_calls.h"

int main(void)
{
    Dl_info info;
    CHECK(dladdr(dlsym(RTLD_DEFAULT, "cuInit"), &info));
    printf("owner %s\n", info.dli_fname);
    void *context;
    CUdeviceptr p;
    unsigned char out[4096], in[4096] = {0};
    for (size_t i = 0; i < sizeof out; i++)
        out[i] = (unsigned char)(i * 31);
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuMemAlloc_v2(&p, sizeof out));
    OKAY(cuMemcpyHtoD_v2(p, out, sizeof out));
    OKAY(cuMemcpyDtoH_v2(in, p, sizeof in));
    EQUAL(0, memcmp(in, out, sizeof in));
    OKAY(cuMemFree_v2(p));
    OKAY(cuDevicePrimaryCtxRelease_v2(0));
    printf("roundtrip\n");
    return 0;
}

/*
 * Opens the driver by the names given, one after another, closing it in between: which library comes, and does it work?
 */
#include <dlfcn.h>
#include <string.h>

#include "check.h"
#include "cuda_calls.h"

static void *entry(void *library, const char *name)
{
    void *address = dlsym(library, name);
    CHECK(address);
    return address;
}

static void use(const char *name)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        printf("%s: %s\n", name, dlerror());
        exit(1);
    }
    Dl_info info;
    CHECK(dladdr(entry(library, "cuMemAlloc_v2"), &info));
    printf("%s owner %s\n", name, info.dli_fname);
    CUresult (*init)(unsigned) = (CUresult(*)(unsigned))entry(library, "cuInit");
    CUresult (*create)(void **, unsigned, CUdevice) = (CUresult(*)(void **, unsigned, CUdevice))entry(library,
                                                                                                      "cuCtxCreate_v2");
    CUresult (*destroy)(void *) = (CUresult(*)(void *))entry(library, "cuCtxDestroy_v2");
    CUresult (*alloc)(CUdeviceptr *, size_t) = (CUresult(*)(CUdeviceptr *, size_t))entry(library, "cuMemAlloc_v2");
    CUresult (*set)(CUdeviceptr, unsigned,
                    size_t) = (CUresult(*)(CUdeviceptr, unsigned, size_t))entry(library, "cuMemsetD32_v2");
    CUresult (*get)(void *, CUdeviceptr, size_t) = (CUresult(*)(void *, CUdeviceptr, size_t))entry(library,
                                                                                                   "cuMemcpyDtoH_v2");
    void *context;
    CUdeviceptr p;
    unsigned value;
    OKAY(init(0));
    OKAY(create(&context, 0, 0));
    OKAY(alloc(&p, 64));
    OKAY(set(p, 0x5a5a, 16));
    OKAY(get(&value, p + 60, 4));
    EQUAL(0x5a5a, value);
    OKAY(destroy(context));
    OKAY(dlclose(library));
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        use(argv[i]);
    printf("done\n");
    return 0;
}

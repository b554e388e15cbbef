/*
 * A program of the CUDA runtime with a kernel of its own. Says how each call ended, so that a run without the vendor's
 * driver ends in order with CUDA's own error; then whose the entries are that the runtime was given: it asks
 * libcuda.so.1 in the way that the runtime does. Waits for a line on stdin before it ends.
 */
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <dlfcn.h>

__global__ void mark(int *word)
{
    *word = 7;
}

static void say_owner(const char *name)
{
    typedef CUresult (*lookup_type)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    lookup_type lookup = library ? reinterpret_cast<lookup_type>(dlsym(library, "cuGetProcAddress_v2")) : nullptr;
    void *entry = nullptr;
    CUdriverProcAddressQueryResult status;
    Dl_info info;
    if (!lookup || lookup(name, &entry, CUDART_VERSION, 0, &status) != CUDA_SUCCESS || !dladdr(entry, &info))
        std::printf("%s has no owner\n", name);
    else
        std::printf("%s of %s\n", name, info.dli_fname);
}

int main()
{
    int count = -1, value = 0, *word = nullptr;
    std::printf("count error %d\n", cudaGetDeviceCount(&count));
    std::printf("malloc error %d\n", cudaMalloc(reinterpret_cast<void **>(&word), sizeof *word));
    mark<<<1, 1>>>(word);
    std::printf("launch error %d\n", cudaGetLastError());
    std::printf("copy error %d\n", cudaMemcpy(&value, word, sizeof value, cudaMemcpyDeviceToHost));
    std::printf("value %d\n", value);
    const char *names[] = {"cuMemAlloc", "cuMemFree", "cuLaunchKernel", "cuMemcpyHtoD", "cuGraphLaunch",
                           "cuGetProcAddress", "cuDeviceGetName"};
    for (const char *name : names)
        say_owner(name);
    std::puts("ready");
    std::fflush(stdout);
    std::getchar();
    return 0;
}

/* What a program hears from NVML: argv[1] is the total in MiB, argv[2] the free memory that it should be told. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

struct memory {
    unsigned long long total, free, used;
};

int main(int argc, char **argv)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    int (*init)(void) = library ? (int (*)(void))dlsym(library, "nvmlInit_v2") : NULL;
    int (*info)(void *, struct memory *) =
        library ? (int (*)(void *, struct memory *))dlsym(library, "nvmlDeviceGetMemoryInfo") : NULL;
    int (*missing)(void) = library ? (int (*)(void))dlsym(library, "nvmlShutdown") : NULL;
    struct memory memory;
    if (argc != 3 || !init || !info || !missing || init() != 0 || info(&memory, &memory) != 0) {
        fprintf(stderr, "no answer from NVML\n");
        return 1;
    }
    if (missing() != 13) { /* NVML_ERROR_FUNCTION_NOT_FOUND: the vendor's library lacks it */
        fprintf(stderr, "an entry that the vendor lacks did not say so\n");
        return 1;
    }
    unsigned long long mib = 1024 * 1024, total = memory.total / mib, free_bytes = memory.free / mib;
    printf("NVML: total %llu MiB, free %llu MiB, used %llu MiB\n", total, free_bytes, memory.used / mib);
    return total == strtoull(argv[1], NULL, 10) && free_bytes == strtoull(argv[2], NULL, 10) &&
                   memory.used == memory.total - memory.free
               ? 0
               : 1;
}

/*
 * Has the vendor's driver compile the PTX of many images once, so that its own cache of compiled code (CUDA_CACHE_PATH)
 * holds them before anything is measured. Several of these run side by side; a program would compile one after the other.
 *
 *   warm NUMBER COUNT < LIST    takes every COUNT-th line of the list from line NUMBER on: FILE OFFSET BYTES
 *
 * Prints how many images were loaded and how many have no code for this GPU.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef int (*init_t)(unsigned);
typedef int (*device_t)(int *, int);
typedef int (*retain_t)(void **, int);
typedef int (*current_t)(void *);
typedef int (*load_t)(void **, const void *);
typedef int (*unload_t)(void *);

static void *driver;

static void *entry(const char *name)
{
    void *found = dlsym(driver, name);
    if (found == NULL) {
        fprintf(stderr, "warm: the driver has no %s\n", name);
        exit(1);
    }
    return found;
}

static void *start(void)
{
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver == NULL) {
        fprintf(stderr, "warm: %s\n", dlerror());
        exit(1);
    }
    int device;
    void *context;
    if (((init_t)entry("cuInit"))(0) != 0 || ((device_t)entry("cuDeviceGet"))(&device, 0) != 0 ||
        ((retain_t)entry("cuDevicePrimaryCtxRetain"))(&context, device) != 0 ||
        ((current_t)entry("cuCtxSetCurrent"))(context) != 0) {
        fprintf(stderr, "warm: the driver gives no context\n");
        exit(1);
    }
    return context;
}

static const char *map(const char *path, size_t *size)
{
    struct stat facts;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 && errno == ENOENT) {
        return NULL; /* its part was not brought */
    }
    if (file < 0 || fstat(file, &facts) != 0) {
        perror(path);
        exit(1);
    }
    const char *bytes = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (bytes == MAP_FAILED) {
        perror(path);
        exit(1);
    }
    *size = (size_t)facts.st_size;
    return bytes;
}

int main(int count, char **words)
{
    long number = count == 3 ? atol(words[1]) : -1;
    long every = count == 3 ? atol(words[2]) : 0;
    if (number < 0 || every < 1) {
        fprintf(stderr, "warm NUMBER COUNT < LIST\n");
        return 2;
    }
    start();
    load_t load = (load_t)entry("cuModuleLoadData");
    unload_t unload = (unload_t)entry("cuModuleUnload");
    char path[4096];
    size_t offset, bytes;
    int loaded = 0, without = 0;
    for (long line = 0; scanf("%4095s %zu %zu", path, &offset, &bytes) == 3; line++) {
        if (line % every != number) {
            continue;
        }
        size_t size;
        const char *file = map(path, &size);
        void *module;
        if (file == NULL) {
            without++;
            continue;
        }
        if (offset < size && bytes <= size - offset && load(&module, file + offset) == 0) {
            unload(module);
            loaded++;
        } else {
            without++;
        }
        munmap((void *)file, size);
    }
    printf("%d %d\n", loaded, without);
    return 0;
}

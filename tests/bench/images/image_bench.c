/*
 * Time to load module images of a framework's size: FOLDER COUNT MEGABYTES. Makes COUNT fat binaries of device code for six
 * architectures in a file, and loads each as a library does that mapped it, and from memory that no file is behind. Prints
 * milliseconds for 100 MB of each. The driver is whatever libcuda.so.1 is.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MIB (1ull << 20)
#define MOST 64
#define ARCHITECTURES 6

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuLibraryLoadData(void **library, const void *code, int *jit_options, void **jit_values, unsigned jit_count,
                      int *options, void **values, unsigned count);
int cuLibraryUnload(void *library);

struct fat_binary {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
};

struct entry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t bytes;
    uint32_t compressed, options, ptx_version, architecture, name[2];
    uint64_t flags, pad, unpacked;
};

static void require(int condition, const char *what, int result)
{
    if (!condition) {
        fprintf(stderr, "image_bench: %s (%d)\n", what, result);
        exit(1);
    }
}

static double now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* Code that no packer would shorten, so that nothing profits from its being made up. */
static void fill(unsigned char *image, uint64_t bytes)
{
    static const uint32_t architectures[ARCHITECTURES] = {75, 80, 86, 90, 100, 120};
    static uint64_t state = 88172645463325252ull;
    for (uint64_t i = 0; i + 8 <= bytes; i += 8) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        memcpy(image + i, &state, 8);
    }
    uint64_t part = ((bytes - sizeof(struct fat_binary)) / ARCHITECTURES - sizeof(struct entry)) & ~7ull;
    struct fat_binary head = {0xba55ed50u, 1, sizeof head, ARCHITECTURES * (sizeof(struct entry) + part)};
    memcpy(image, &head, sizeof head);
    for (unsigned i = 0; i < ARCHITECTURES; i++) {
        struct entry entry = {.kind = 2,
                              .version = 0x101,
                              .header_bytes = sizeof entry,
                              .bytes = part,
                              .architecture = architectures[i],
                              .unpacked = part};
        memcpy(image + sizeof head + i * (sizeof entry + part), &entry, sizeof entry);
    }
}

static void load(const char *what, unsigned char *images, int count, uint64_t bytes)
{
    void *libraries[MOST];
    double begin_ms = now_ms();
    for (int i = 0; i < count; i++) {
        uint64_t wrapper[3] = {0x1466243b1ull, (uintptr_t)(images + (uint64_t)i * bytes), 0};
        int option = 1; /* CU_LIBRARY_BINARY_IS_PRESERVED, as cuBLAS says */
        void *value = (void *)1;
        int result = cuLibraryLoadData(&libraries[i], wrapper, NULL, NULL, 0, &option, &value, 1);
        require(result == 0, "an image is not loaded", result);
    }
    double took_ms = now_ms() - begin_ms;
    printf("%-16s %8.2f ms per 100 MB, %6.2f ms an image\n", what, took_ms * 1e8 / ((double)bytes * count),
           took_ms / count);
    for (int i = 0; i < count; i++)
        require(cuLibraryUnload(libraries[i]) == 0, "a library is not unloaded", 0);
}

int main(int arguments, char **argument)
{
    require(arguments == 4, "FOLDER COUNT MEGABYTES are asked", 0);
    int count = atoi(argument[2]);
    uint64_t bytes = strtoull(argument[3], NULL, 10) * MIB;
    require(count > 0 && count <= MOST && bytes > 0 && bytes < 1024 * MIB, "as many and large as that are not made", 0);
    char path[4096];
    snprintf(path, sizeof path, "%s/images", argument[1]);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    require(file >= 0, "there is no file", 0);
    uint64_t total = bytes * (uint64_t)count;
    if (lseek(file, 0, SEEK_END) != (off_t)total) {
        require(ftruncate(file, (off_t)total) == 0, "there is no room", 0);
        unsigned char *made = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        require(made != MAP_FAILED, "it is not mapped", 0);
        for (int i = 0; i < count; i++)
            fill(made + (uint64_t)i * bytes, bytes);
        munmap(made, total);
        sleep(3); /* an executor takes a file for settled when it did not change for a while */
    }
    unsigned char *mapped = mmap(NULL, total, PROT_READ, MAP_PRIVATE, file, 0);
    require(mapped != MAP_FAILED, "it is not mapped", 0);
    void *context;
    int result = cuInit(0);
    if (result == 0)
        result = cuDevicePrimaryCtxRetain(&context, 0);
    if (result == 0)
        result = cuCtxSetCurrent(context);
    require(result == 0, "there is no device", result);
    load("from a file", mapped, count, bytes);
    load("again", mapped, count, bytes);
    if (total <= 256 * MIB) {
        unsigned char *copy = malloc(total);
        require(copy != NULL, "there is no memory", 0);
        memcpy(copy, mapped, total);
        load("without a file", copy, count, bytes);
        free(copy);
    }
    return 0;
}

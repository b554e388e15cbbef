/*
 * Tessera's libnvidia-ml.so.1: every entry passes through to the vendor's. Memory figures follow the limit that
 * cuMemGetInfo shows, so that a program gets consistent figures from both.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/find_library.h"
#include "nvml_entries.h"

#define NVML_ERROR_LIBRARY_NOT_FOUND 12
#define NVML_ERROR_FUNCTION_NOT_FOUND 13
#define NVML_UUID_TEXT 96 /* NVML_DEVICE_UUID_V2_BUFFER_SIZE */

#define HEXADECIMAL "0123456789abcdef"

#define EXPORT __attribute__((visibility("default")))

/* nvmlMemory_t and nvmlMemory_v2_t */
struct memory {
    unsigned long long total, free, used;
};
struct memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};

/* Shows the dlopen wrapper in our libcuda that this library is loaded. */
EXPORT const int tessera_nvml_here = 1;

static void *handle;

static int answer_no_library(void)
{
    return NVML_ERROR_LIBRARY_NOT_FOUND;
}

static int answer_not_in_library(void)
{
    return NVML_ERROR_FUNCTION_NOT_FOUND;
}

/* Prints its line once, because every entry of the table calls this. */
static void say_unusable(const char *path)
{
    static int said;
    const char *why = dlerror(), *quiet = getenv("TESSERA_QUIET");
    if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED) && (!quiet || !*quiet || strcmp(quiet, "0") == 0))
        fprintf(stderr, "tessera: TESSERA_NVML=%s cannot be opened (%s): NVML is not there for this program\n", path,
                why ? why : "");
}

static void *library(void)
{
    void *known = __atomic_load_n(&handle, __ATOMIC_ACQUIRE);
    const char *asked = getenv("TESSERA_NVML");
    char path[PATH_MAX] = "";
    if (known)
        return known;
    if (asked && *asked)
        snprintf(path, sizeof path, "%s", asked);
    else if (!find_library("libnvidia-ml.so.1", path, sizeof path))
        return NULL;
    /* glibc's own dlopen: our wrapper would answer with this very library. */
    void *(*open)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    known = open ? open(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (known)
        __atomic_store_n(&handle, known, __ATOMIC_RELEASE);
    else if (asked && *asked)
        say_unusable(asked);
    return known;
}

void *tessera_nvml_resolve(unsigned index)
{
    void *vendor = library();
    if (!vendor)
        return (void *)answer_no_library;
    void *entry = dlsym(vendor, tessera_nvml_entry_name[index]);
    if (!entry)
        entry = (void *)answer_not_in_library;
    __atomic_store_n(&tessera_nvml_real[index], entry, __ATOMIC_RELEASE);
    return entry;
}

static void *vendor(unsigned index)
{
    return __atomic_load_n(&tessera_nvml_real[index], __ATOMIC_RELAXED);
}

static int digit(char c)
{
    const char *found = c ? strchr(HEXADECIMAL, tolower((unsigned char)c)) : NULL;
    return found ? (int)(found - HEXADECIMAL) : -1;
}

/* "GPU-01234567-89ab-..." to its 16 bytes. */
static int parse_uuid(const char *text, unsigned char uuid[16])
{
    const char *at = strchr(text, '-');
    int n = 0;
    for (at = at ? at + 1 : ""; *at; at++) {
        if (*at == '-')
            continue;
        int high = digit(at[0]), low = high < 0 ? -1 : digit(at[1]);
        if (low < 0 || n == 16)
            return 0;
        uuid[n++] = (unsigned char)(high << 4 | low);
        at++;
    }
    return n == 16;
}

static int limit_of(void *device, uint64_t *limit, uint64_t *used)
{
    int (*truth)(const unsigned char *, uint64_t *, uint64_t *) =
        (int (*)(const unsigned char *, uint64_t *, uint64_t *))dlsym(RTLD_DEFAULT, "tessera_memory_of");
    int (*get_uuid)(void *, char *, unsigned) = (int (*)(void *, char *, unsigned))vendor(ENTRY_nvmlDeviceGetUUID);
    char text[NVML_UUID_TEXT];
    unsigned char uuid[16];
    return truth && get_uuid(device, text, sizeof text) == 0 && parse_uuid(text, uuid) && truth(uuid, limit, used);
}

static void clamp(void *device, unsigned long long *total, unsigned long long *free_bytes, unsigned long long *used)
{
    uint64_t limit, mine;
    if (!limit_of(device, &limit, &mine) || limit >= *total)
        return;
    uint64_t left = mine < limit ? limit - mine : 0;
    *total = limit;
    *free_bytes = *free_bytes < left ? *free_bytes : left;
    *used = limit - *free_bytes;
}

EXPORT int nvmlDeviceGetMemoryInfo(void *device, void *memory)
{
    int (*real)(void *, void *) = (int (*)(void *, void *))vendor(ENTRY_nvmlDeviceGetMemoryInfo);
    int result = real(device, memory);
    struct memory *m = memory;
    if (result == 0 && m)
        clamp(device, &m->total, &m->free, &m->used);
    return result;
}

EXPORT int nvmlDeviceGetMemoryInfo_v2(void *device, void *memory)
{
    int (*real)(void *, void *) = (int (*)(void *, void *))vendor(ENTRY_nvmlDeviceGetMemoryInfo_v2);
    int result = real(device, memory);
    struct memory_v2 *m = memory;
    if (result == 0 && m)
        clamp(device, &m->total, &m->free, &m->used);
    return result;
}

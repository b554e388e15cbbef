#include "driver/find_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where driver packages, containers and WSL install the library. */
static const char *const folders[] = {
    "/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64", "/lib64",
    "/usr/local/nvidia/lib64",   "/usr/lib/wsl/lib",      "/usr/lib",   "/usr/local/cuda/compat",
};

/* statx, because stat() is a different symbol in glibc before 2.33. */
static bool same_file(const struct statx *file, const void *symbol)
{
    struct statx own;
    Dl_info info;
    return symbol && dladdr(symbol, &info) && info.dli_fname &&
           statx(AT_FDCWD, info.dli_fname, 0, STATX_BASIC_STATS, &own) == 0 &&
           file->stx_dev_major == own.stx_dev_major && file->stx_dev_minor == own.stx_dev_minor &&
           file->stx_ino == own.stx_ino;
}

/* Whether the file exists and is, under any name, neither the library that contains this code nor our libcuda. */
static bool is_other_file(const char *path)
{
    struct statx file;
    return statx(AT_FDCWD, path, 0, STATX_BASIC_STATS, &file) == 0 && S_ISREG(file.stx_mode) &&
           !same_file(&file, folders) && !same_file(&file, dlsym(RTLD_DEFAULT, "tessera_memory_of"));
}

static bool try_folder(const char *folder, size_t length, const char *name, char *path, size_t size)
{
    if (length == 0 || folder[0] != '/')
        return false; /* the vendor's library is opened by absolute path only */
    int n = snprintf(path, size, "%.*s/%s", (int)length, folder, name);
    return n > 0 && (size_t)n < size && is_other_file(path);
}

static bool search_list(const char *list, const char *name, char *path, size_t size)
{
    while (list && *list) {
        size_t length = strcspn(list, ":");
        if (try_folder(list, length, name, path, size))
            return true;
        list += length + (list[length] == ':');
    }
    return false;
}

/* glibc's cache, format 1.1 (glibc >= 2.2): a 48-byte header, entries of 24 bytes, strings. */
struct cache_header {
    char magic[20]; /* "glibc-ld.so.cache1.1" */
    uint32_t count;
    uint32_t string_bytes;
    uint32_t unused[5];
};
struct cache_entry {
    int32_t flags;
    uint32_t key, value; /* offsets of NUL-terminated strings from the header */
    uint32_t os_version;
    uint64_t hwcap;
};

#define CACHE_ELF_X86_64 0x0303 /* FLAG_ELF_LIBC6 | FLAG_X8664_LIB64 */

static const char *cache_string(const char *cache, size_t bytes, uint32_t offset)
{
    return offset < bytes && memchr(cache + offset, '\0', bytes - offset) ? cache + offset : NULL;
}

static bool search_entries(const char *cache, size_t bytes, const char *name, char *path, size_t size)
{
    struct cache_header header;
    if (bytes < sizeof header)
        return false;
    memcpy(&header, cache, sizeof header);
    if (memcmp(header.magic, "glibc-ld.so.cache1.1", sizeof header.magic) != 0 ||
        header.count > (bytes - sizeof header) / sizeof(struct cache_entry))
        return false;
    for (uint32_t i = 0; i < header.count; i++) {
        struct cache_entry entry;
        memcpy(&entry, cache + sizeof header + i * sizeof entry, sizeof entry);
        const char *key = cache_string(cache, bytes, entry.key);
        const char *value = cache_string(cache, bytes, entry.value);
        if (key && value && entry.flags == CACHE_ELF_X86_64 && strcmp(key, name) == 0 && strlen(value) < size &&
            value[0] == '/' && is_other_file(value)) {
            memcpy(path, value, strlen(value) + 1);
            return true;
        }
    }
    return false;
}

static bool search_cache(const char *name, char *path, size_t size)
{
    int file = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
    struct statx status;
    if (file < 0)
        return false;
    bool found = false;
    if (statx(file, "", AT_EMPTY_PATH, STATX_SIZE, &status) == 0 && status.stx_size > 0) {
        size_t bytes = (size_t)status.stx_size;
        char *cache = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
        if (cache != MAP_FAILED) {
            found = search_entries(cache, bytes, name, path, size);
            munmap(cache, bytes);
        }
    }
    close(file);
    return found;
}

bool find_library(const char *name, char *path, size_t size)
{
    if (search_list(getenv("LD_LIBRARY_PATH"), name, path, size) || search_cache(name, path, size))
        return true;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (try_folder(folders[i], strlen(folders[i]), name, path, size))
            return true;
    path[0] = '\0';
    return false;
}

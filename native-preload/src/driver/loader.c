#include "driver/loader.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

void *tessera_next_dlopen;

static void *failing_dlopen(const char *name, int mode)
{
    (void)name;
    (void)mode;
    return NULL;
}

static void *next_dlopen(void)
{
    void *next = __atomic_load_n(&tessera_next_dlopen, __ATOMIC_ACQUIRE);
    if (!next) {
        next = dlsym(RTLD_NEXT, "dlopen");
        if (!next)
            next = (void *)failing_dlopen; /* a libc without dlopen, so nothing can have called it */
        __atomic_store_n(&tessera_next_dlopen, next, __ATOMIC_RELEASE);
    }
    return next;
}

void *loader_open(const char *path)
{
    void *(*open)(const char *, int) = (void *(*)(const char *, int))next_dlopen();
    return open(path, RTLD_NOW | RTLD_LOCAL);
}

/* "stem" or "stem.digits-and-dots", as files of the library are named. */
static int is_library(const char *base, const char *stem)
{
    size_t length = strlen(stem);
    return strncmp(base, stem, length) == 0 && (base[length] == '\0' || base[length] == '.') &&
           strspn(base + length, ".0123456789") == strlen(base + length);
}

/*
 * A bare name is not changed: glibc resolves it to the loaded library with this SONAME, which is ours, and finds
 * libcuda.so as our own link, because our folder is first on the library path.
 */
const char *tessera_dlopen_name(const char *name)
{
    next_dlopen();
    const char *slash = name ? strrchr(name, '/') : NULL;
    if (slash && is_library(slash + 1, "libcuda.so"))
        return "libcuda.so.1";
    if (slash && is_library(slash + 1, "libnvidia-ml.so") && dlsym(RTLD_DEFAULT, "tessera_nvml_here"))
        return "libnvidia-ml.so.1";
    return name;
}

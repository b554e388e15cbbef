/*
 * Device code that a program brings along: nvcc's start-up code registers every fat binary with its kernels and
 * variables by the addresses of their host shadows. Nothing is loaded before it is used.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

/* One registered fat binary. Never freed while its program may still call: unregistering only unloads. */
struct image {
    const void *wrapper;
    CUlibrary library; /* NULL: not loaded */
    struct image *next;
};

struct symbol {
    const void *host; /* key */
    struct image *image;
    const char *name;
    bool function;
    size_t bytes;
    CUkernel kernel; /* function, once found */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct image *images;
static struct symbol *symbols; /* open addressing; room is a power of two */
static size_t room, used;

static size_t slot_of(const void *host, size_t slots)
{
    return (size_t)((uintptr_t)host * 0x9e3779b97f4a7c15ULL >> 20) & (slots - 1);
}

static struct symbol *place(struct symbol *table, size_t slots, const void *host)
{
    size_t slot = slot_of(host, slots);
    while (table[slot].host && table[slot].host != host)
        slot = (slot + 1) & (slots - 1);
    return &table[slot];
}

static bool grow(void)
{
    size_t wider = room ? room * 2 : 256;
    struct symbol *table = calloc(wider, sizeof *table);
    if (!table)
        return false;
    for (size_t i = 0; i < room; i++)
        if (symbols[i].host)
            *place(table, wider, symbols[i].host) = symbols[i];
    free(symbols);
    symbols = table;
    room = wider;
    return true;
}

static void add(struct image *image, const void *host, const char *name, bool function, size_t bytes)
{
    pthread_mutex_lock(&lock);
    if (used * 2 < room || grow()) {
        struct symbol *symbol = place(symbols, room, host);
        used += !symbol->host;
        *symbol = (struct symbol){.host = host, .image = image, .name = name, .function = function, .bytes = bytes};
    }
    pthread_mutex_unlock(&lock);
}

/* With the lock. */
static struct symbol *known(const void *host)
{
    if (!room)
        return NULL;
    struct symbol *symbol = place(symbols, room, host);
    return symbol->host ? symbol : NULL;
}

static cudaError_t loaded(struct image *image)
{
    if (image->library)
        return cudaSuccess;
    return cuLibraryLoadData(&image->library, image->wrapper, NULL, NULL, 0, NULL, NULL, 0);
}

cudaError_t find_kernel(const void *function, CUkernel *kernel)
{
    cudaError_t failed = enter();
    if (failed)
        return failed;
    pthread_mutex_lock(&lock);
    struct symbol *symbol = known(function);
    if (symbol && !symbol->function)
        failed = cudaErrorInvalidDeviceFunction;
    if (symbol && !failed && !symbol->kernel) {
        failed = loaded(symbol->image);
        if (!failed && cuLibraryGetKernel(&symbol->kernel, symbol->image->library, symbol->name) != cudaSuccess)
            failed = cudaErrorInvalidDeviceFunction;
    }
    /* Not registered: a cudaKernel_t, which is the driver's handle itself. */
    *kernel = symbol ? symbol->kernel : (CUkernel)(uintptr_t)function;
    pthread_mutex_unlock(&lock);
    if (!failed && !*kernel)
        failed = cudaErrorInvalidDeviceFunction;
    return keep(failed);
}

cudaError_t find_variable(const void *host, CUdeviceptr *address, size_t *bytes)
{
    cudaError_t failed = enter();
    if (failed)
        return failed;
    pthread_mutex_lock(&lock);
    struct symbol *symbol = known(host);
    if (!symbol || symbol->function)
        failed = cudaErrorInvalidSymbol;
    if (!failed)
        failed = loaded(symbol->image);
    /* Asked for each time: a variable has a place on each device, and the driver knows which is current. */
    size_t found = 0;
    if (!failed && cuLibraryGetGlobal(address, &found, symbol->image->library, symbol->name) != cudaSuccess)
        failed = cudaErrorInvalidSymbol;
    if (!failed)
        *bytes = found ? found : symbol->bytes;
    pthread_mutex_unlock(&lock);
    return keep(failed);
}

static void forget(const struct image *of)
{
    for (size_t i = 0; i < room; i++)
        if (symbols[i].host && (!of || symbols[i].image == of))
            symbols[i].kernel = NULL;
}

void registry_reset(void)
{
    pthread_mutex_lock(&lock);
    for (struct image *image = images; image; image = image->next)
        if (image->library) {
            cuLibraryUnload(image->library);
            image->library = NULL;
        }
    forget(NULL);
    pthread_mutex_unlock(&lock);
}

/* ---- What nvcc's start-up code calls ------------------------------------------------------------------------------ */

EXPORT void **__cudaRegisterFatBinary(void *wrapper);
EXPORT void **__cudaRegisterFatBinary(void *wrapper)
{
    struct image *image = calloc(1, sizeof *image);
    if (!image)
        return NULL;
    image->wrapper = wrapper;
    pthread_mutex_lock(&lock);
    image->next = images;
    images = image;
    pthread_mutex_unlock(&lock);
    return (void **)image;
}

EXPORT void __cudaRegisterFatBinaryEnd(void **handle);
EXPORT void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle; /* everything is loaded on first use */
}

EXPORT void __cudaUnregisterFatBinary(void **handle);
EXPORT void __cudaUnregisterFatBinary(void **handle)
{
    struct image *image = (struct image *)handle;
    if (!image)
        return;
    pthread_mutex_lock(&lock);
    if (image->library)
        cuLibraryUnload(image->library); /* at exit the driver may be gone already: its answer changes nothing */
    image->library = NULL;
    forget(image);
    pthread_mutex_unlock(&lock);
}

EXPORT char __cudaInitModule(void **handle);
EXPORT char __cudaInitModule(void **handle)
{
    (void)handle;
    return 1;
}

EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device_function, const char *name, int limit,
                                   void *thread, void *block, void *block_size, void *grid_size, int *warp_size);
EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device_function, const char *name, int limit,
                                   void *thread, void *block, void *block_size, void *grid_size, int *warp_size)
{
    (void)device_function, (void)limit, (void)thread, (void)block, (void)block_size, (void)grid_size, (void)warp_size;
    add((struct image *)handle, host, name, true, 0);
}

EXPORT void __cudaRegisterVar(void **handle, char *host, char *device_address, const char *name, int external,
                              size_t bytes, int constant, int global);
EXPORT void __cudaRegisterVar(void **handle, char *host, char *device_address, const char *name, int external,
                              size_t bytes, int constant, int global)
{
    (void)device_address, (void)external, (void)constant, (void)global;
    add((struct image *)handle, host, name, false, bytes);
}

/* A managed variable: there is no managed memory behind this library, and the host's pointer to it stays null: said once. */
EXPORT void __cudaRegisterManagedVar(void **handle, void **host, char *device_address, const char *name, int external,
                                     size_t bytes, int constant, int global);
EXPORT void __cudaRegisterManagedVar(void **handle, void **host, char *device_address, const char *name, int external,
                                     size_t bytes, int constant, int global)
{
    (void)device_address, (void)external, (void)constant, (void)global;
    say_unserved("managed variables (__managed__): the program has one, and must not use it");
    add((struct image *)handle, host, name, false, bytes);
}

EXPORT void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes);
EXPORT void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes)
{
    add((struct image *)handle, host, name, false, bytes);
}

/* Textures and surfaces by reference: gone from the language since CUDA 12; old objects may still register them. */
EXPORT void __cudaRegisterTexture(void **handle, const void *host, const void **device_address, const char *name,
                                  int dimension, int normalised, int external);
EXPORT void __cudaRegisterTexture(void **handle, const void *host, const void **device_address, const char *name,
                                  int dimension, int normalised, int external)
{
    (void)handle, (void)host, (void)device_address, (void)name, (void)dimension, (void)normalised, (void)external;
    say_unserved("texture references");
}

EXPORT void __cudaRegisterSurface(void **handle, const void *host, const void **device_address, const char *name,
                                  int dimension, int external);
EXPORT void __cudaRegisterSurface(void **handle, const void *host, const void **device_address, const char *name,
                                  int dimension, int external)
{
    (void)handle, (void)host, (void)device_address, (void)name, (void)dimension, (void)external;
    say_unserved("surface references");
}

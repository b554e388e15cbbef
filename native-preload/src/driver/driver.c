#include "driver/driver.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "driver/driver_types.h"
#include "driver/find_library.h"
#include "driver/loader.h"
#include "driver/user.h"
#include "tessera_entries.h"

static void *handle;
static int missing_said;

static CUresult answer_no_driver(void)
{
    return driver_user()->wrong()[0] ? CUDA_ERROR_SYSTEM_NOT_READY : CUDA_ERROR_NO_DEVICE;
}

static CUresult answer_not_in_driver(void)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* Two threads may both open the library. They get the same handle, and the second reference is never released. */
void *driver_handle(void)
{
    void *known = __atomic_load_n(&handle, __ATOMIC_ACQUIRE);
    if (known)
        return known;
    char found[PATH_MAX];
    snprintf(found, sizeof found, "%s", driver_user()->library());
    if (!found[0] && !find_library("libcuda.so.1", found, sizeof found))
        found[0] = '\0';
    void *opened = found[0] ? loader_open(found) : NULL;
    if (!opened) {
        const char *wrong = driver_user()->wrong();
        bool said = __atomic_exchange_n(&missing_said, 1, __ATOMIC_ACQ_REL);
        if (!said && wrong[0])
            driver_say("%s; CUDA is refused", wrong);
        else if (!said)
            driver_say(found[0] ? "the driver %s cannot be opened (%s): programs see no GPU"
                                : "no NVIDIA driver (libcuda.so.1) was found: programs see no GPU",
                       found, found[0] ? dlerror() : "");
        return NULL;
    }
    __atomic_store_n(&handle, opened, __ATOMIC_RELEASE);
    return opened;
}

static void keep(unsigned index, void *entry)
{
    __atomic_store_n(&tessera_real[index], entry, __ATOMIC_RELEASE);
    /* If calls of the exported symbol go to the lazy stub, they go to the entry directly from now on. */
    void *stub = tessera_first[index];
    __atomic_compare_exchange_n(&tessera_port[index], &stub, entry, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

void *tessera_resolve(unsigned index)
{
    void *library = driver_handle();
    if (!library)
        return (void *)answer_no_driver; /* not stored: a driver may appear later */
    void *entry = dlsym(library, tessera_entry_name[index]);
    if (!entry) {
        driver_count(CUDA_ERROR_NOT_SUPPORTED, "this driver has no %s", tessera_entry_name[index]);
        entry = (void *)answer_not_in_driver;
    }
    keep(index, entry);
    return entry;
}

void *tessera_choose(unsigned index)
{
    const struct driver_user *user = driver_user();
    return user->choose ? user->choose(index) : tessera_resolve(index);
}

/* No pthread_once here: other threads would wait for a thread that waits in dlsym. */
void driver_look_up_all(void)
{
    static bool done;
    void *library = __atomic_load_n(&done, __ATOMIC_ACQUIRE) ? NULL : driver_handle();
    if (!library)
        return;
    for (unsigned i = 0; i < TESSERA_ENTRY_COUNT; i++) {
        void *entry = dlsym(library, tessera_entry_name[i]);
        if (entry)
            keep(i, entry);
    }
    __atomic_store_n(&done, true, __ATOMIC_RELEASE);
}

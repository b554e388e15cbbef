#include "relay/wire/vendor.h"

#include <limits.h>

#include "driver/driver.h"
#include "driver/find_library.h"
#include "session/settings.h"
#include "tessera_entries.h"

static enum { UNKNOWN, ABSENT, PRESENT } library, device;

/* Without the line that driver_handle() writes where nothing is found: here that is an ordinary case. */
static bool library_present(void)
{
    if (__atomic_load_n(&library, __ATOMIC_ACQUIRE) == UNKNOWN) {
        char path[PATH_MAX];
        bool there = settings()->driver[0] || find_library("libcuda.so.1", path, sizeof path);
        __atomic_store_n(&library, there && driver_handle() ? PRESENT : ABSENT, __ATOMIC_RELEASE);
    }
    return __atomic_load_n(&library, __ATOMIC_ACQUIRE) == PRESENT;
}

void vendor_start(void)
{
    int count = 0;
    bool there = library_present() && REAL(cuInit)(0) == CUDA_SUCCESS &&
                 REAL(cuDeviceGetCount)(&count) == CUDA_SUCCESS && count > 0;
    __atomic_store_n(&device, there ? PRESENT : ABSENT, __ATOMIC_RELEASE);
}

bool vendor_present(void)
{
    return __atomic_load_n(&device, __ATOMIC_ACQUIRE) == UNKNOWN ? library_present()
                                                                 : __atomic_load_n(&device, __ATOMIC_ACQUIRE) == PRESENT;
}

unsigned vendor_devices(unsigned char (*uuids)[16], unsigned room)
{
    int count = 0;
    if (!vendor_present() || REAL(cuDeviceGetCount)(&count) != CUDA_SUCCESS)
        return 0;
    unsigned known = 0;
    for (int i = 0; i < count && known < room; i++) {
        CUdevice ordinal;
        if (REAL(cuDeviceGet)(&ordinal, i) == CUDA_SUCCESS &&
            REAL(cuDeviceGetUuid)((void *)uuids[known], ordinal) == CUDA_SUCCESS)
            known++;
    }
    return known;
}

void *vendor_primary(int ordinal)
{
    /* CUDART_INTERFACE: word 0 is the size of the table in bytes, word 2 the function. */
    static const unsigned char id[16] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                         0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};
    const uintptr_t *table = vendor_table(id);
    void *context = NULL;
    if (!table || table[0] < 3 * sizeof *table)
        return NULL;
    CUresult (*primary)(void **, int) = (CUresult(*)(void **, int))table[2];
    return primary && primary(&context, ordinal) == CUDA_SUCCESS ? context : NULL;
}

const void *vendor_table(const unsigned char *id)
{
    const void *table = NULL;
    if (!vendor_present() || REAL(cuGetExportTable)(&table, id) != CUDA_SUCCESS)
        return NULL;
    return table;
}

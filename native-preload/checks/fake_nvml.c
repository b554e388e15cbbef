/* Stands in for the vendor's NVML: one device of 1000 MiB, 400 MiB of it used by somebody else. */
#include <stdio.h>

#define MIB (1024ULL * 1024)

struct memory {
    unsigned long long total, free, used;
};

int nvmlInit_v2(void);
int nvmlInit_v2(void)
{
    return 0;
}

int nvmlDeviceGetUUID(void *device, char *uuid, unsigned length);
int nvmlDeviceGetUUID(void *device, char *uuid, unsigned length)
{
    (void)device;
    snprintf(uuid, length, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
    return 0;
}

int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory);
int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory)
{
    (void)device;
    *memory = (struct memory){1000 * MIB, 600 * MIB, 400 * MIB};
    return 0;
}

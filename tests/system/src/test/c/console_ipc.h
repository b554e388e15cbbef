/*
 * What `console` does with memory of other processes:
 *     handle INDEX            ok HEX (CUipcMemHandle)
 *     open HEX                ok INDEX; for close, fill, check and range
 *     close INDEX
 *     range INDEX             ok BASE BYTES DEVICE CAPABLE, by address range and attributes; BASE from the pointer
 *     descriptors             ok COUNT: open files of the process
 *     child                   ok COUNT: open files of a child of a fork
 *     mappings                ok COUNT: memory objects of the driver's that are mapped
 */
#ifndef CONSOLE_IPC_H
#define CONSOLE_IPC_H

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

static inline void handle_to_hex(const CUipcMemHandle *handle, char hex[2 * sizeof *handle + 1])
{
    const unsigned char *byte = (const void *)handle;
    for (size_t i = 0; i < sizeof *handle; i++)
        sprintf(hex + 2 * i, "%02x", byte[i]);
}

static inline CUresult open_hex(const char *hex, CUdeviceptr *pointer, size_t *bytes)
{
    CUipcMemHandle handle;
    unsigned value;
    for (size_t i = 0; i < sizeof handle; i++) {
        if (sscanf(hex + 2 * i, "%2x", &value) != 1)
            return 1;
        ((unsigned char *)&handle)[i] = (unsigned char)value;
    }
    CUresult error = cuIpcOpenMemHandle_v2(pointer, handle, 1);
    return error ? error : cuMemGetAddressRange_v2(NULL, bytes, *pointer);
}

/* Asked of an address in its middle. */
static inline CUresult range_of(CUdeviceptr pointer, size_t size, char *text, size_t length)
{
    CUdeviceptr base = 0, start = 0, middle = pointer + size / 2;
    size_t bytes = 0, range = 0;
    int device = -1;
    unsigned capable = 9;
    CUresult error = cuMemGetAddressRange_v2(&base, &bytes, middle);
    if (!error)
        error = cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, middle);
    if (!error)
        error = cuPointerGetAttribute(&capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, middle);
    if (!error)
        error = cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, middle);
    int attributes[] = {12};
    void *values[] = {&range};
    if (!error)
        error = cuPointerGetAttributes(1, attributes, values, middle);
    if (!error && (start != base || range != bytes))
        error = 1;
    snprintf(text, length, "%lld %zu %d %u", (long long)(base - pointer), bytes, device, capable);
    return error;
}

static inline int open_files(void)
{
    int files = 0;
    DIR *folder = opendir("/proc/self/fd");
    CHECK(folder != NULL);
    while (readdir(folder))
        files++;
    closedir(folder);
    return files - 3; /* ".", "..", and the folder's own */
}

static inline int open_sockets(void)
{
    int sockets = 0;
    DIR *folder = opendir("/proc/self/fd");
    CHECK(folder != NULL);
    for (const struct dirent *file = readdir(folder); file; file = readdir(folder)) {
        char target[16] = "";
        ssize_t length = readlinkat(dirfd(folder), file->d_name, target, sizeof target - 1);
        sockets += length > 0 && strncmp(target, "socket:", 7) == 0;
    }
    closedir(folder);
    return sockets;
}

/* open_files() in a child of a fork, which does nothing else. */
static inline int open_files_of_a_child(void)
{
    int both[2], files = -1;
    CHECK(pipe(both) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        files = open_files() - 2; /* without the pipe's */
        _exit(write(both[1], &files, sizeof files) == sizeof files ? 0 : 1);
    }
    CHECK(read(both[0], &files, sizeof files) == sizeof files);
    CHECK(waitpid(child, NULL, 0) == child);
    close(both[0]);
    close(both[1]);
    return files;
}

static inline int driver_mappings(void)
{
    char line[512];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    CHECK(maps != NULL);
    while (fgets(line, sizeof line, maps))
        found += strstr(line, "memfd:scripted-memory") != NULL;
    fclose(maps);
    return found;
}

#endif

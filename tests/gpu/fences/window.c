#include "window.h"

#include <string.h>

#define GIB ((size_t)1 << 30)

void window_open(struct window *window, int device)
{
    struct allocation what = {.type = 1 /* pinned */, .location = {1 /* device */, device}};
    struct access access = {{1, device}, 3 /* read and write */};
    unsigned long long handle;
    uint32_t go_on = STOP_GO_ON;
    window->mapped = (size_t)WINDOW_DATA_MIB << 20;
    window->used = 0;
    CHECK(cuMemAddressReserve(&window->base, 4 * GIB, 4 * GIB, 0, 0));
    CHECK(cuMemCreate(&handle, window->mapped, &what, 0));
    CHECK(cuMemMap(window->base, window->mapped, 0, handle, 0));
    CHECK(cuMemSetAccess(window->base, window->mapped, &access, 1));
    CHECK(cuMemAlloc_v2(&window->report, REPORT_BYTES));
    CHECK(cuMemAlloc_v2(&window->stop, 4096));
    CHECK(cuMemsetD8Async(window->report, 0, REPORT_BYTES, NULL));
    CHECK(cuMemcpyHtoD_v2(window->stop, &go_on, sizeof go_on));
    CHECK(cuCtxSynchronize());
}

CUdeviceptr window_take(struct window *window, size_t bytes)
{
    CUdeviceptr found = window->base + window->used;
    window->used += (bytes + 4095) & ~(size_t)4095;
    if (window->used > window->mapped) {
        fprintf(stderr, "the window's %d MiB are too few\n", WINDOW_DATA_MIB);
        exit(2);
    }
    return found;
}

/* A line of the list: name of the constant that holds the address, size, alignment, initial bytes in hexadecimal. */
static void hoist(struct window *window, CUmodule module, const char *line)
{
    char name[512];
    size_t size, ignored;
    int read = 0;
    CUdeviceptr constant;
    if (sscanf(line, "%511s %zu %n", name, &size, &read) < 2)
        return;
    CUdeviceptr place = window_take(window, size);
    unsigned char *bytes = calloc(1, size + 1);
    for (size_t i = 0; bytes && i < size && line[read] > ' ' && line[read + 1] > ' '; i++, read += 2) {
        char digits[3] = {line[read], line[read + 1], 0};
        bytes[i] = (unsigned char)strtoul(digits, NULL, 16);
    }
    CHECK(cuMemcpyHtoD_v2(place, bytes, size));
    CHECK(cuModuleGetGlobal_v2(&constant, &ignored, module, name));
    CHECK(cuMemcpyHtoD_v2(constant, &place, 8));
    free(bytes);
}

void window_fill(struct window *window, CUmodule module, const char *mode, const char *variables)
{
    int modulo = strcmp(mode, "modulo") == 0;
    uint64_t words[8] = {window->base >> 32 | (uint64_t)(modulo ? 1 : 0) << 32,
                         window->base,
                         4 * GIB,
                         modulo ? 0xFFFFFFFFu : 0,
                         window->report,
                         window->stop,
                         0,
                         0};
    words[7] = words[0];
    CUdeviceptr constant;
    size_t bytes;
    CHECK(cuModuleGetGlobal_v2(&constant, &bytes, module, "__tessera_window"));
    CHECK(cuMemcpyHtoD_v2(constant, words, sizeof words));
    FILE *list = fopen(variables, "r");
    char *line = NULL;
    size_t room = 0;
    while (list && getline(&line, &room, list) > 0)
        hoist(window, module, line);
    free(line);
    if (list)
        fclose(list);
}

unsigned window_violations(struct window *window)
{
    unsigned count = 0;
    CHECK(cuMemcpyDtoH_v2(&count, window->report, sizeof count));
    CHECK(cuMemsetD8Async(window->report, 0, REPORT_BYTES, NULL));
    CHECK(cuCtxSynchronize());
    return count;
}

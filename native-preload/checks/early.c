/* A library whose constructor calls cuInit, and ends the program with 1 if the answer is not EARLY_EXPECTED. See checks/early. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void early_linked(void);

void early_linked(void)
{
}

__attribute__((constructor)) static void early(void)
{
    const char *expected = getenv("EARLY_EXPECTED");
    int (*init)(unsigned) = (int (*)(unsigned))dlsym(RTLD_DEFAULT, "cuInit");
    int result = init ? init(0) : -1;
    if (expected && result != atoi(expected)) {
        fprintf(stderr, "early: cuInit in a constructor answered %d, expected %s\n", result, expected);
        _exit(1);
    }
}

/* Calls that this library has a name for and no more: refused, and said once each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

#define SAID 64

void say_unserved(const char *what)
{
    static const char *said[SAID]; /* racing threads may both speak: a line twice harms nobody */
    const char *quiet = getenv("TESSERA_QUIET");
    for (size_t i = 0; i < SAID && said[i] != what; i++)
        if (!said[i]) {
            said[i] = what;
            if (!quiet || !*quiet || strcmp(quiet, "0") == 0)
                fprintf(stderr,
                        "tessera: the runtime library does not serve %s; run the program with --share time --runtime vendor, which needs a GPU and "
                        "NVIDIA's driver\n",
                        what);
            return;
        }
}

cudaError_t refuse(const char *name)
{
    say_unserved(name);
    return keep(cudaErrorNotSupported);
}

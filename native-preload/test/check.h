/* CHECK() ends the test if its condition is not true, and names the place. */
#ifndef TESSERA_CHECK_H
#define TESSERA_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#include "time_limits.h"

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                  \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif

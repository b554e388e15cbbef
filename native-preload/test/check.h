/* What is not true ends a check, with its place. */
#ifndef TESSERA_CHECK_H
#define TESSERA_CHECK_H

#include <stdio.h>
#include <stdlib.h>

/* Whether a sanitizer slows the program down: bounds on times then do not hold. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                  \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif

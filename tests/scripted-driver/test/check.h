/* Checks of a test program: the first that fails says where and ends it with 1. */
#ifndef TESSERA_TEST_CHECK_H
#define TESSERA_TEST_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                  \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define EQUAL(expected, actual)                                                                                        \
    do {                                                                                                               \
        long long wanted_ = (long long)(expected), got_ = (long long)(actual);                                         \
        if (wanted_ != got_) {                                                                                         \
            fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #actual, got_, wanted_);              \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define OKAY(call) EQUAL(0, call)

#endif

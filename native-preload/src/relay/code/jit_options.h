/* Options of the JIT compiler: arrays of values that calls read and write. Some values are addresses of log buffers. */
#ifndef TESSERA_RELAY_JIT_OPTIONS_H
#define TESSERA_RELAY_JIT_OPTIONS_H

#include "relay/wire/message.h"

#define JIT_MAX_OPTIONS 64u
#define JIT_LOG_BYTES 24576u /* of each log */

struct jit_options {
    unsigned count;
    uint32_t option[JIT_MAX_OPTIONS];
    uint64_t value[JIT_MAX_OPTIONS]; /* as they travel */
    uint32_t info_bytes;             /* of the logs; 0: none wanted */
    uint32_t error_bytes;
    char *info; /* the program's buffers */
    char *error;
    void **program_values;
    unsigned char *answer; /* values, then logs; jit_options_release() frees it */
    uint32_t answer_bytes;
};

/*
 * Reads the program's arrays. Returns 0, INVALID_VALUE, OUT_OF_MEMORY, or NOT_SUPPORTED for options whose values are
 * other addresses.
 */
CUresult jit_options_read(unsigned count, const int *options, void **values, const char *entry,
                          struct jit_options *read);

/* The two arguments of a call that carries the options. */
struct message_argument jit_options_argument(const struct jit_options *options);
struct message_argument jit_values_argument(const struct jit_options *options);

/* Writes the returned values and logs to the program's arrays and buffers. */
void jit_options_write(const struct jit_options *options);

void jit_options_release(struct jit_options *options);

#endif

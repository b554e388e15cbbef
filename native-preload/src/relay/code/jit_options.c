#include "relay/code/jit_options.h"

#include <stdlib.h>
#include <string.h>

#include "relay/wire/unsupported.h"

static uint32_t padded(uint32_t bytes)
{
    return (bytes + 7) & ~7u;
}

static uint32_t log_bytes(const void *value)
{
    uint32_t bytes = (uint32_t)(uintptr_t)value; /* the values of numeric options are their low bits */
    return bytes < JIT_LOG_BYTES ? bytes : JIT_LOG_BYTES;
}

static CUresult read_one(struct jit_options *read, unsigned i, uint32_t option, void *value, const char *entry)
{
    read->option[i] = option;
    read->value[i] = (uintptr_t)value;
    switch (option) {
    case CU_JIT_INFO_LOG_BUFFER:
        read->info = value;
        read->value[i] = 0;
        return CUDA_SUCCESS;
    case CU_JIT_ERROR_LOG_BUFFER:
        read->error = value;
        read->value[i] = 0;
        return CUDA_SUCCESS;
    case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        read->value[i] = read->info_bytes = log_bytes(value);
        return CUDA_SUCCESS;
    case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        read->value[i] = read->error_bytes = log_bytes(value);
        return CUDA_SUCCESS;
    case CU_JIT_GLOBAL_SYMBOL_NAMES:
    case CU_JIT_GLOBAL_SYMBOL_ADDRESSES:
    case CU_JIT_REFERENCED_KERNEL_NAMES:
    case CU_JIT_REFERENCED_VARIABLE_NAMES:
        return relay_unsupported(entry, "a JIT option whose value is an array of names or addresses");
    default:
        return CUDA_SUCCESS;
    }
}

CUresult jit_options_read(unsigned count, const int *options, void **values, const char *entry, struct jit_options *read)
{
    memset(read, 0, sizeof *read);
    if (count > JIT_MAX_OPTIONS || (count != 0 && (!options || !values)))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        CUresult result = read_one(read, i, (uint32_t)options[i], values[i], entry);
        if (result != CUDA_SUCCESS)
            return result;
    }
    if (!read->info)
        read->info_bytes = 0;
    if (!read->error)
        read->error_bytes = 0;
    read->count = count;
    read->program_values = values;
    read->answer_bytes = count * 8 + padded(read->info_bytes) + padded(read->error_bytes);
    read->answer = read->answer_bytes ? calloc(1, read->answer_bytes) : NULL;
    return read->answer_bytes && !read->answer ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

struct message_argument jit_options_argument(const struct jit_options *options)
{
    return options->count ? IN(options->option, options->count * 4) : NOTHING;
}

struct message_argument jit_values_argument(const struct jit_options *options)
{
    struct message_argument argument = NOTHING;
    if (options->count) {
        argument = IN(options->value, options->count * 8);
        argument.out = options->answer;
        argument.out_bytes = options->answer_bytes;
    }
    return argument;
}

static void copy_log(char *to, const unsigned char *from, uint32_t bytes)
{
    if (!to || bytes == 0)
        return;
    size_t length = strnlen((const char *)from, bytes - 1);
    memcpy(to, from, length);
    to[length] = 0;
}

void jit_options_write(const struct jit_options *options)
{
    if (!options->answer)
        return;
    for (unsigned i = 0; i < options->count; i++) {
        uint64_t value;
        memcpy(&value, options->answer + i * 8, sizeof value);
        uint32_t option = options->option[i];
        if (option == CU_JIT_THREADS_PER_BLOCK || option == CU_JIT_WALL_TIME ||
            option == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES || option == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            options->program_values[i] = (void *)(uintptr_t)value;
    }
    const unsigned char *logs = options->answer + options->count * 8;
    copy_log(options->info, logs, options->info_bytes);
    copy_log(options->error, logs + padded(options->info_bytes), options->error_bytes);
}

void jit_options_release(struct jit_options *options)
{
    free(options->answer);
    options->answer = NULL;
}

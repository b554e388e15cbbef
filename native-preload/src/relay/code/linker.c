/*
 * The JIT linker. Each step of a link writes values and logs to the program's option arrays, so they are in use until the
 * link is complete. The linked image belongs to the link and lies in this process's memory.
 */
#include <stdlib.h>
#include <string.h>

#include "relay/code/image.h"
#include "relay/code/jit_options.h"
#include "relay/wire/message.h"
#include "session/hash_table.h"

#define PIECE 61440u
#define LOGS_AT (1ULL << 63)

struct linker {
    uint64_t handle;
    struct jit_options options;
    void *image;
};

static struct table linkers = TABLE_INITIAL;

static CUresult enter(CUlinkState state, struct relay_context **context, struct linker **linker)
{
    CUresult result = relay_enter(context);
    if (result != CUDA_SUCCESS)
        return result;
    *linker = table_find(&linkers, (uintptr_t)state);
    return *linker ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static void release(struct linker *linker)
{
    jit_options_release(&linker->options);
    free(linker->image);
    free(linker);
}

CUresult relay_cuLinkCreate_v2(unsigned int count, int *options, void **values, CUlinkState *state)
{
    struct relay_context *context;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS || !state)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    struct linker *linker = calloc(1, sizeof *linker);
    if (!linker)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = jit_options_read(count, options, values, "cuLinkCreate_v2", &linker->options);
    if (result == CUDA_SUCCESS)
        result = MESSAGE_CALL(context, ENTRY_cuLinkCreate_v2, VALUE(count), jit_options_argument(&linker->options),
                              jit_values_argument(&linker->options), OUT(&linker->handle, 8));
    if (result == CUDA_SUCCESS && !table_put(&linkers, linker->handle, linker)) {
        MESSAGE_POST(context, ENTRY_cuLinkDestroy, VALUE(linker->handle));
        result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result != CUDA_SUCCESS)
        release(linker);
    else
        *state = (CUlinkState)(uintptr_t)linker->handle;
    return result;
}

CUresult relay_cuLinkCreate(unsigned int count, int *options, void **values, CUlinkState *state)
{
    return relay_cuLinkCreate_v2(count, options, values, state);
}

/* Brings the option values and logs of a step to the program, also after an error: the logs explain it. */
static void fetch_logs(struct relay_context *context, struct linker *linker)
{
    uint64_t from = LOGS_AT;
    if (linker->options.count == 0)
        return;
    struct message_argument logs = IN(&from, sizeof from);
    logs.out = linker->options.answer;
    logs.out_bytes = linker->options.answer_bytes;
    if (MESSAGE_CALL(context, ENTRY_cuLinkComplete, VALUE(linker->handle), logs, NOTHING) == CUDA_SUCCESS)
        jit_options_write(&linker->options);
}

CUresult relay_cuLinkAddData_v2(CUlinkState state, int type, void *data, size_t bytes, const char *name,
                                unsigned int count, int *options, void **values)
{
    struct relay_context *context;
    struct linker *linker;
    struct jit_options read;
    CUresult result = enter(state, &context, &linker);
    if (result == CUDA_SUCCESS && (!data || bytes == 0 || bytes > TESSERA_RELAY_BULK_MAX))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return result;
    result = jit_options_read(count, options, values, "cuLinkAddData_v2", &read);
    if (result == CUDA_SUCCESS) {
        result = MESSAGE_CALL(context, ENTRY_cuLinkAddData_v2, VALUE(linker->handle), VALUE(type), IN(data, bytes),
                              VALUE(bytes), IN_OR_NOTHING(name, strlen(name) + 1), VALUE(count),
                              jit_options_argument(&read), jit_values_argument(&read));
        jit_options_write(&read);
        fetch_logs(context, linker);
    }
    jit_options_release(&read);
    return result;
}

CUresult relay_cuLinkAddData(CUlinkState state, int type, void *data, size_t bytes, const char *name,
                             unsigned int count, int *options, void **values)
{
    return relay_cuLinkAddData_v2(state, type, data, bytes, name, count, options, values);
}

CUresult relay_cuLinkAddFile_v2(CUlinkState state, int type, const char *path, unsigned int count, int *options,
                                void **values)
{
    struct relay_context *context;
    struct linker *linker;
    struct image file;
    CUresult result = enter(state, &context, &linker);
    if (result != CUDA_SUCCESS)
        return result;
    result = image_read_file(path, &file);
    if (result == CUDA_SUCCESS) /* the zero byte behind the contents belongs to text only */
        result = relay_cuLinkAddData_v2(state, type, file.owned, file.bytes - (type != 1), path, count, options, values);
    image_release(&file);
    return result;
}

CUresult relay_cuLinkAddFile(CUlinkState state, int type, const char *path, unsigned int count, int *options,
                             void **values)
{
    return relay_cuLinkAddFile_v2(state, type, path, count, options, values);
}

static CUresult fetch_image(struct relay_context *context, struct linker *linker, uint64_t *bytes)
{
    unsigned char *first = malloc(PIECE), *image = NULL;
    uint64_t offset = 0, told = 0;
    CUresult result = first ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    *bytes = 0;
    while (result == CUDA_SUCCESS && (offset == 0 || offset < *bytes)) {
        struct message_argument piece = IN(&offset, sizeof offset);
        piece.out = first;
        piece.out_bytes = PIECE;
        result = MESSAGE_CALL(context, ENTRY_cuLinkComplete, VALUE(linker->handle), piece, OUT(&told, 8));
        if (result != CUDA_SUCCESS)
            break;
        if (!image)
            *bytes = told;
        if (told == 0 || told != *bytes) { /* a faulty executor must not cause a write beyond the image */
            result = CUDA_ERROR_INVALID_IMAGE;
            break;
        }
        if (!image && (told > TESSERA_RELAY_BULK_MAX || !(image = malloc(told)))) {
            result = CUDA_ERROR_OUT_OF_MEMORY;
            break;
        }
        uint64_t length = *bytes - offset < PIECE ? *bytes - offset : PIECE;
        memcpy(image + offset, first, length);
        offset += length;
    }
    free(first);
    if (result != CUDA_SUCCESS) {
        free(image);
        return result;
    }
    free(linker->image);
    linker->image = image;
    return CUDA_SUCCESS;
}

CUresult relay_cuLinkComplete(CUlinkState state, void **image, size_t *bytes)
{
    struct relay_context *context;
    struct linker *linker;
    uint64_t length;
    CUresult result = enter(state, &context, &linker);
    if (result != CUDA_SUCCESS)
        return result;
    result = fetch_image(context, linker, &length);
    fetch_logs(context, linker);
    if (result != CUDA_SUCCESS)
        return result;
    if (image)
        *image = linker->image;
    if (bytes)
        *bytes = length;
    return CUDA_SUCCESS;
}

CUresult relay_cuLinkDestroy(CUlinkState state)
{
    struct relay_context *context;
    struct linker *linker;
    CUresult result = enter(state, &context, &linker);
    if (result != CUDA_SUCCESS)
        return result;
    result = MESSAGE_CALL(context, ENTRY_cuLinkDestroy, VALUE(linker->handle));
    table_take(&linkers, linker->handle);
    release(linker);
    return result;
}

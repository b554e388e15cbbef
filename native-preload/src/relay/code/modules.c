/* Modules: each is loaded with its whole image; each name is looked up in the executor once. */
#include "relay/code/modules.h"

#include <stdlib.h>
#include <string.h>

#include "relay/code/functions.h"
#include "relay/code/image.h"
#include "relay/code/image_offer.h"
#include "relay/code/jit_options.h"
#include "relay/code/names.h"
#include "relay/memory/range.h"
#include "relay/wire/message.h"
#include "relay/wire/unsupported.h"
#include "session/hash_table.h"

struct module {
    uint64_t handle;
    const struct relay_context *context;
};

static struct table modules = TABLE_INITIAL;

void module_known(struct relay_context *context, uint64_t handle)
{
    if (table_find(&modules, handle))
        return;
    struct module *module = malloc(sizeof *module);
    if (!module)
        return; /* its names are then kept until the process ends */
    *module = (struct module){handle, context};
    if (!table_put(&modules, handle, module))
        free(module);
}

static CUresult call_with(struct relay_context *context, struct message_argument image, struct jit_options *options,
                          uint64_t *handle)
{
    return MESSAGE_CALL(context, ENTRY_cuModuleLoadDataEx, OUT(handle, 8), image, VALUE(options->count),
                        jit_options_argument(options), jit_values_argument(options));
}

static CUresult send_image(struct relay_context *context, const struct image *image, struct jit_options *options,
                           CUmodule *module)
{
    uint64_t handle = 0;
    struct tessera_image_reference reference;
    CUresult result = IMAGE_OFFER_REFUSED;
    if (image_offer(context->link, image, &reference))
        result = call_with(context, IN(&reference, sizeof reference), options, &handle);
    if (result == IMAGE_OFFER_REFUSED)
        result = call_with(context, IN(image->data, image->bytes), options, &handle);
    jit_options_write(options);
    if (result != CUDA_SUCCESS)
        return result;
    module_known(context, handle);
    *module = (CUmodule)(uintptr_t)handle;
    return CUDA_SUCCESS;
}

static CUresult load(CUmodule *module, const void *address, unsigned count, const int *options, void **values,
                     const char *entry)
{
    struct relay_context *context;
    struct image image = {0};
    struct jit_options read;
    CUresult result = relay_enter(&context);
    if (result == CUDA_SUCCESS && !module)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return result;
    result = jit_options_read(count, options, values, entry, &read);
    if (result == CUDA_SUCCESS && (result = image_measure(address, &image)) == CUDA_SUCCESS)
        result = send_image(context, &image, &read, module);
    image_release(&image);
    jit_options_release(&read);
    return result;
}

CUresult relay_cuModuleLoadData(CUmodule *module, const void *image)
{
    return load(module, image, 0, NULL, NULL, "cuModuleLoadData");
}

CUresult relay_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int count, int *options, void **values)
{
    return load(module, image, count, options, values, "cuModuleLoadDataEx");
}

CUresult relay_cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
    return load(module, image, 0, NULL, NULL, "cuModuleLoadFatBinary");
}

CUresult relay_cuModuleLoad(CUmodule *module, const char *path)
{
    struct relay_context *context;
    struct image file;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    result = image_read_file(path, &file);
    if (result == CUDA_SUCCESS)
        result = load(module, file.data, 0, NULL, NULL, "cuModuleLoad");
    image_release(&file);
    return result;
}

CUresult relay_cuModuleUnload(CUmodule module)
{
    struct relay_context *context;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    uint64_t handle = (uintptr_t)module;
    if (relay_handle_type(handle) != TESSERA_HANDLE_MODULE)
        return CUDA_ERROR_INVALID_HANDLE;
    result = MESSAGE_CALL(context, ENTRY_cuModuleUnload, VALUE(handle));
    if (result == CUDA_SUCCESS) {
        names_forget(handle);
        free(table_take(&modules, handle));
    }
    return result;
}

CUresult relay_cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    struct relay_context *context;
    struct name_answer answer = {0, 0};
    uint64_t handle = (uintptr_t)module;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!function || !name)
        return CUDA_ERROR_INVALID_VALUE;
    if (!names_find(handle, NAME_FUNCTION, name, &answer)) {
        result = MESSAGE_CALL(context, ENTRY_cuModuleGetFunction, OUT(&answer.value, 8), VALUE(handle),
                              IN(name, strlen(name) + 1));
        if (result != CUDA_SUCCESS)
            return result;
        names_put(handle, NAME_FUNCTION, name, answer);
    }
    *function = (CUfunction)(uintptr_t)answer.value;
    return CUDA_SUCCESS;
}

CUresult global_of(struct relay_context *context, unsigned entry, uint64_t owner, const char *name,
                   CUdeviceptr *pointer, size_t *bytes)
{
    struct name_answer answer = {0, 0};
    enum name_kind kind = entry == ENTRY_cuLibraryGetManaged ? NAME_MANAGED : NAME_GLOBAL;
    if (!name || (!pointer && !bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (!names_find(owner, kind, name, &answer)) {
        CUresult result = MESSAGE_CALL(context, entry, OUT(&answer.value, 8), OUT(&answer.bytes, 8), VALUE(owner),
                                       IN(name, strlen(name) + 1));
        if (result != CUDA_SUCCESS)
            return result;
        const struct relay_range range = {.start = answer.value,
                                          .bytes = answer.bytes,
                                          .kind = RELAY_RANGE_GLOBAL,
                                          .link = context->link,
                                          .context = context};
        if (answer.bytes && !relay_range_add(&range))
            return CUDA_ERROR_OUT_OF_MEMORY;
        names_put(owner, kind, name, answer);
    }
    if (pointer)
        *pointer = answer.value;
    if (bytes)
        *bytes = answer.bytes;
    return CUDA_SUCCESS;
}

CUresult relay_cuModuleGetGlobal_v2(CUdeviceptr *pointer, size_t *bytes, CUmodule module, const char *name)
{
    struct relay_context *context;
    CUresult result = relay_enter(&context);
    return result != CUDA_SUCCESS
               ? result
               : global_of(context, ENTRY_cuModuleGetGlobal_v2, (uintptr_t)module, name, pointer, bytes);
}

CUresult relay_cuModuleEnumerateFunctions(CUfunction *functions, unsigned int count, CUmodule module)
{
    struct relay_context *context;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!functions)
        return CUDA_ERROR_INVALID_VALUE;
    if (count > TESSERA_RELAY_REPLY_MAX / 8)
        return relay_too_many_functions();
    result = MESSAGE_CALL(context, ENTRY_cuModuleEnumerateFunctions, OUT(functions, count * 8), VALUE(count),
                          VALUE((uintptr_t)module));
    for (unsigned i = 0; result == CUDA_SUCCESS && i < count && functions[i]; i++)
        names_put((uintptr_t)module, NAME_FUNCTION, NULL, (struct name_answer){(uintptr_t)functions[i], 0});
    return result;
}

static bool is_of_context(const void *value, const void *of)
{
    return ((const struct module *)value)->context == of;
}

void relay_modules_context_ended(struct relay_context *context)
{
    struct module *module;
    uint32_t at = 0;
    while ((module = table_take_where(&modules, &at, is_of_context, context)) != NULL) {
        names_forget(module->handle);
        free(module);
    }
}

/* The mode is that of the executor's driver. It is not queried: CUDA 12 and later load lazily by default. */
CUresult relay_cuModuleGetLoadingMode(int *mode)
{
    CUresult result = relay_started();
    if (result != CUDA_SUCCESS || !mode)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

#include "relay/code/libraries.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "relay/code/functions.h"
#include "relay/code/image.h"
#include "relay/code/image_offer.h"
#include "relay/code/jit_options.h"
#include "relay/code/modules.h"
#include "relay/code/names.h"
#include "relay/wire/message.h"
#include "relay/wire/unsupported.h"
#include "session/hash_table.h"

struct library {
    uint64_t handle;                  /* the program's */
    uint64_t on[TESSERA_MAX_DEVICES]; /* executors' handles; 0: not loaded there yet */
    struct image image;               /* to load it on other devices; not used if the program sees only one */
    struct jit_options options;       /* likewise; without an answer, for which the program provides no room then */
    pthread_mutex_t lock;
};

static struct table libraries = TABLE_INITIAL;

/* A kernel under the program's handle. Used only if the program sees several devices. */
struct kernel {
    struct library *library;
    uint64_t on[TESSERA_MAX_DEVICES]; /* 0: not looked up there yet */
    char name[];
};

static struct table kernels = TABLE_INITIAL;

/* The current context. A library may be loaded and queried without one: then the first device is used. */
static CUresult any_context(struct relay_context **context)
{
    if (relay_current)
        return relay_enter(context);
    CUresult result = relay_started();
    if (result != CUDA_SUCCESS)
        return result;
    if (relay_link_count == 0)
        return CUDA_ERROR_INVALID_DEVICE;
    *context = relay_primary(&relay_links[0]);
    return relay_link_state((*context)->link);
}

static CUresult call_with(struct relay_context *context, struct message_argument image, struct jit_options *options,
                          uint64_t *handle)
{
    return MESSAGE_CALL(context, ENTRY_cuLibraryLoadData, OUT(handle, 8), image, jit_options_argument(options),
                        jit_values_argument(options), VALUE(options->count), NOTHING, NOTHING, VALUE(0));
}

static CUresult send_image(struct relay_context *context, const struct image *image, struct jit_options *options,
                           uint64_t *handle)
{
    struct tessera_image_reference reference;
    CUresult result = IMAGE_OFFER_REFUSED;
    if (image_offer(context->link, image, &reference))
        result = call_with(context, IN(&reference, sizeof reference), options, handle);
    if (result == IMAGE_OFFER_REFUSED)
        result = call_with(context, IN(image->data, image->bytes), options, handle);
    jit_options_write(options);
    return result;
}

/* The library on the context's device, loaded there if need be. */
static CUresult library_on(struct relay_context *context, uint64_t handle, uint64_t *there, struct library **library)
{
    *library = table_find(&libraries, handle);
    if (!*library)
        return CUDA_ERROR_INVALID_HANDLE;
    unsigned device = context->link->device;
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&(*library)->lock);
    if ((*library)->on[device] == 0)
        result = send_image(context, &(*library)->image, &(*library)->options, &(*library)->on[device]);
    *there = (*library)->on[device];
    pthread_mutex_unlock(&(*library)->lock);
    return result;
}

static void release(struct library *library)
{
    image_release(&library->image);
    free(library);
}

/* Keeps the image, from which the library is loaded on other devices. */
static bool keep_image(struct library *library, const struct image *image, bool preserved)
{
    library->image = *image;
    library->image.owned = NULL;
    if (preserved || relay_link_count < 2)
        return true;
    void *copy = malloc(image->bytes);
    if (copy)
        memcpy(copy, image->data, image->bytes);
    library->image = (struct image){copy, image->bytes, copy};
    return copy != NULL;
}

static CUresult load(struct relay_context *context, CUlibrary *result_out, const struct image *image,
                     struct jit_options *options, bool preserved)
{
    struct library *library = calloc(1, sizeof *library);
    if (!library)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_init(&library->lock, NULL);
    library->options = *options;
    library->options.answer = NULL;
    library->options.answer_bytes = 0;
    CUresult result = keep_image(library, image, preserved && !image->owned)
                          ? send_image(context, image, options, &library->handle)
                          : CUDA_ERROR_OUT_OF_MEMORY;
    library->on[context->link->device] = library->handle;
    if (result == CUDA_SUCCESS && !table_put(&libraries, library->handle, library)) {
        MESSAGE_POST(context, ENTRY_cuLibraryUnload, VALUE(library->handle));
        result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result != CUDA_SUCCESS)
        release(library);
    else
        *result_out = (CUlibrary)(uintptr_t)library->handle;
    return result;
}

struct library_request {
    const int *jit_options;
    void **jit_values;
    unsigned jit_count;
    const int *options;
    void **values;
    unsigned count;
};

static CUresult read_library_options(const struct library_request *request, const char *entry, bool *preserved)
{
    *preserved = false;
    if (request->count != 0 && !request->options)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < request->count; i++) {
        /* cuBLASLt 13 passes this option without any values; the driver accepts that. */
        void *value = request->values ? request->values[i] : NULL;
        if (request->options[i] == CU_LIBRARY_BINARY_IS_PRESERVED)
            *preserved = value != NULL;
        else if (value)
            return relay_unsupported(entry, "a table of host functions for device code");
    }
    return CUDA_SUCCESS;
}

static CUresult load_library(CUlibrary *library, const void *address, const struct library_request *request,
                             const char *entry)
{
    struct relay_context *context;
    struct image image = {0};
    struct jit_options options;
    bool preserved;
    CUresult result = any_context(&context);
    if (result == CUDA_SUCCESS && !library)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = read_library_options(request, entry, &preserved);
    if (result != CUDA_SUCCESS)
        return result;
    result = jit_options_read(request->jit_count, request->jit_options, request->jit_values, entry, &options);
    if (result == CUDA_SUCCESS && (result = image_measure(address, &image)) == CUDA_SUCCESS)
        result = load(context, library, &image, &options, preserved);
    image_release(&image);
    jit_options_release(&options);
    return result;
}

CUresult relay_cuLibraryLoadData(CUlibrary *library, const void *code, int *jit_options, void **jit_values,
                                 unsigned int jit_count, int *options, void **values, unsigned int count)
{
    const struct library_request request = {jit_options, jit_values, jit_count, options, values, count};
    return load_library(library, code, &request, "cuLibraryLoadData");
}

CUresult relay_cuLibraryLoadFromFile(CUlibrary *library, const char *path, int *jit_options, void **jit_values,
                                     unsigned int jit_count, int *options, void **values, unsigned int count)
{
    struct library_request request = {jit_options, jit_values, jit_count, options, values, count};
    struct image file;
    CUresult result = relay_started();
    if (result != CUDA_SUCCESS)
        return result;
    for (unsigned i = 0; options && i < count; i++)
        if (options[i] == CU_LIBRARY_BINARY_IS_PRESERVED)
            return CUDA_ERROR_INVALID_VALUE; /* cuLibraryLoadData alone allows it */
    result = image_read_file(path, &file);
    if (result == CUDA_SUCCESS)
        result = load_library(library, file.data, &request, "cuLibraryLoadFromFile");
    image_release(&file);
    return result;
}

static bool is_of_library(const void *value, const void *of)
{
    return ((const struct kernel *)value)->library == of;
}

CUresult relay_cuLibraryUnload(CUlibrary library)
{
    CUresult result = relay_started();
    if (result != CUDA_SUCCESS)
        return result;
    struct library *known = table_take(&libraries, (uintptr_t)library);
    if (!known)
        return CUDA_ERROR_INVALID_HANDLE;
    struct kernel *kernel;
    uint32_t at = 0;
    while ((kernel = table_take_where(&kernels, &at, is_of_library, known)) != NULL)
        free(kernel);
    for (unsigned i = 0; i < relay_link_count; i++) {
        if (known->on[i] == 0)
            continue;
        names_forget(known->on[i]);
        CUresult there = MESSAGE_CALL(relay_primary(&relay_links[i]), ENTRY_cuLibraryUnload, VALUE(known->on[i]));
        if (result == CUDA_SUCCESS)
            result = there;
    }
    release(known);
    return result;
}

static CUresult find_kernel(struct relay_context *context, uint64_t there, const char *name, uint64_t *kernel)
{
    struct name_answer answer = {0, 0};
    if (!names_find(there, NAME_KERNEL, name, &answer)) {
        CUresult result = MESSAGE_CALL(context, ENTRY_cuLibraryGetKernel, OUT(&answer.value, 8), VALUE(there),
                                       IN(name, strlen(name) + 1));
        if (result != CUDA_SUCCESS)
            return result;
        names_put(there, NAME_KERNEL, name, answer);
    }
    *kernel = answer.value;
    return CUDA_SUCCESS;
}

static bool remember_kernel(struct library *library, uint64_t handle, const char *name)
{
    if (relay_link_count < 2 || table_find(&kernels, handle))
        return true;
    struct kernel *kernel = calloc(1, sizeof *kernel + strlen(name) + 1);
    if (!kernel)
        return false;
    kernel->library = library;
    strcpy(kernel->name, name);
    if (table_put(&kernels, handle, kernel))
        return true;
    free(kernel);
    return false;
}

CUresult relay_cuLibraryGetKernel(CUkernel *kernel, CUlibrary handle, const char *name)
{
    struct relay_context *context;
    struct library *library;
    uint64_t there, found;
    CUresult result = any_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!kernel || !name)
        return CUDA_ERROR_INVALID_VALUE;
    result = library_on(context, (uintptr_t)handle, &there, &library);
    if (result == CUDA_SUCCESS)
        result = find_kernel(context, there, name, &found);
    if (result != CUDA_SUCCESS)
        return result;
    if (!remember_kernel(library, found, name))
        return CUDA_ERROR_OUT_OF_MEMORY;
    *kernel = (CUkernel)(uintptr_t)found;
    return CUDA_SUCCESS;
}

CUresult kernel_on(struct relay_context *context, uint64_t handle, uint64_t *there)
{
    struct kernel *kernel = table_find(&kernels, handle);
    struct library *library;
    uint64_t loaded;
    if (!kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    uint64_t *known = &kernel->on[context->link->device];
    if ((*there = __atomic_load_n(known, __ATOMIC_RELAXED)) != 0)
        return CUDA_SUCCESS;
    CUresult result = library_on(context, kernel->library->handle, &loaded, &library);
    if (result == CUDA_SUCCESS)
        result = find_kernel(context, loaded, kernel->name, there);
    if (result == CUDA_SUCCESS)
        __atomic_store_n(known, *there, __ATOMIC_RELAXED);
    return result;
}

static CUresult enter_library(CUlibrary handle, struct relay_context **context, uint64_t *there)
{
    struct library *library;
    CUresult result = relay_enter(context);
    return result != CUDA_SUCCESS ? result : library_on(*context, (uintptr_t)handle, there, &library);
}

CUresult relay_cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    struct relay_context *context;
    struct name_answer answer = {0, 0};
    uint64_t there;
    CUresult result = enter_library(library, &context, &there);
    if (result != CUDA_SUCCESS)
        return result;
    if (!module)
        return CUDA_ERROR_INVALID_VALUE;
    result = MESSAGE_CALL(context, ENTRY_cuLibraryGetModule, OUT(&answer.value, 8), VALUE(there));
    if (result == CUDA_SUCCESS) {
        module_known(context, answer.value);
        *module = (CUmodule)(uintptr_t)answer.value;
    }
    return result;
}

CUresult relay_cuLibraryGetGlobal(CUdeviceptr *pointer, size_t *bytes, CUlibrary library, const char *name)
{
    struct relay_context *context;
    uint64_t there;
    CUresult result = enter_library(library, &context, &there);
    return result != CUDA_SUCCESS ? result : global_of(context, ENTRY_cuLibraryGetGlobal, there, name, pointer, bytes);
}

CUresult relay_cuLibraryGetKernelCount(unsigned int *count, CUlibrary handle)
{
    struct relay_context *context;
    struct library *library;
    uint64_t there;
    CUresult result = any_context(&context);
    if (result != CUDA_SUCCESS || !count)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    result = library_on(context, (uintptr_t)handle, &there, &library);
    return result != CUDA_SUCCESS
               ? result
               : MESSAGE_CALL(context, ENTRY_cuLibraryGetKernelCount, OUT(count, sizeof *count), VALUE(there));
}

CUresult relay_cuLibraryEnumerateKernels(CUkernel *found, unsigned int count, CUlibrary handle)
{
    struct relay_context *context;
    struct library *library;
    uint64_t there;
    CUresult result = any_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!found)
        return CUDA_ERROR_INVALID_VALUE;
    if (count > TESSERA_RELAY_REPLY_MAX / 8)
        return relay_too_many_functions();
    result = library_on(context, (uintptr_t)handle, &there, &library);
    if (result == CUDA_SUCCESS)
        result = MESSAGE_CALL(context, ENTRY_cuLibraryEnumerateKernels, OUT(found, count * 8), VALUE(count),
                              VALUE(there));
    for (unsigned i = 0; result == CUDA_SUCCESS && i < count && found[i]; i++)
        names_put(there, NAME_KERNEL, NULL, (struct name_answer){(uintptr_t)found[i], 0});
    return result;
}

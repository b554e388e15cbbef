#include "relay/code/functions.h"

#include <stdlib.h>
#include <string.h>

#include "relay/code/libraries.h"
#include "relay/wire/message.h"
#include "session/hash_table.h"

static struct table functions = TABLE_INITIAL;
static uint32_t printing[TESSERA_MAX_DEVICES];

bool functions_print(const struct relay_link *link)
{
    return __atomic_load_n(&printing[link->device], __ATOMIC_RELAXED) != 0;
}

void function_answers_forget(struct function *function)
{
    pthread_mutex_lock(&function->lock);
    struct occupancy_answer *answer = function->answers;
    function->answers = NULL;
    pthread_mutex_unlock(&function->lock);
    while (answer) {
        struct occupancy_answer *next = answer->next;
        free(answer);
        answer = next;
    }
}

static void release(struct function *function)
{
    if (__atomic_sub_fetch(&function->references, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    function_answers_forget(function);
    free(function->legacy_parameters);
    free(function->name);
    free(function);
}

/* The device attributes of these limits have numbers in this order, without gaps. */
static void read_limits(struct function *function)
{
    const struct tessera_relay_device *device = &function->link->segment->device;
    for (unsigned i = 0; i < FUNCTION_LIMITS; i++)
        function->limits[i] = device->attribute_valid[CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK + i]
                                  ? (uint32_t)device->attributes[CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK + i]
                                  : UINT32_MAX;
}

static struct function *from_info(struct relay_link *link, const struct tessera_function_info *info)
{
    uint32_t count = info->parameters < TESSERA_RELAY_PARAMETERS ? info->parameters : TESSERA_RELAY_PARAMETERS;
    struct function *function = calloc(1, sizeof *function + count * sizeof function->parameter[0]);
    if (!function)
        return NULL;
    function->handle = info->function;
    function->link = link;
    read_limits(function);
    function->valid = info->valid;
    memcpy(function->attributes, info->attributes, sizeof function->attributes);
    pthread_mutex_init(&function->lock, NULL);
    function->prints = info->prints;
    function->parameter_bytes = info->parameter_bytes;
    function->parameters = count;
    memcpy(function->parameter, info->parameter, count * sizeof function->parameter[0]);
    for (uint32_t i = 0; i < count; i++) /* a hostile executor must not cause a write beyond the record */
        if (function->parameter[i].offset > function->parameter_bytes ||
            function->parameter[i].size > function->parameter_bytes - function->parameter[i].offset)
            function->parameter[i] = (struct tessera_parameter){0, 0};
    return function;
}

/* Enters the function under a key. Returns the entry of another thread that was faster; NULL: no memory. */
static struct function *enter(uint64_t key, struct function *function)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    struct function *known = table_find(&functions, key);
    if (!known && table_put(&functions, key, function)) {
        __atomic_fetch_add(&function->references, 1, __ATOMIC_RELAXED);
        known = function;
    }
    pthread_mutex_unlock(&lock);
    return known;
}

static CUresult ask(struct relay_context *context, uint64_t wire, struct function **function)
{
    struct tessera_function_info *info = calloc(1, sizeof *info);
    if (!info)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = relay_query(context->link, TESSERA_QUERY_FUNCTION, wire, info, sizeof *info);
    struct function *fresh = result == CUDA_SUCCESS ? from_info(context->link, info) : NULL;
    free(info);
    if (!fresh)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_OUT_OF_MEMORY;
    if (fresh->prints)
        __atomic_store_n(&printing[context->link->device], 1, __ATOMIC_RELAXED);
    fresh->references = 1; /* ours, until release() below */
    struct function *known = fresh->handle ? enter(fresh->handle, fresh) : fresh;
    if (known && wire != known->handle)
        known = enter(wire, known);
    *function = known;
    release(fresh);
    return known ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* The table has no such handle of the context's device: takes it as one of that device's, and asks the executor. */
static CUresult find_elsewhere(struct relay_context *context, uint64_t key, struct function **function, uint64_t *wire)
{
    unsigned type = relay_handle_type(key);
    if (type == TESSERA_HANDLE_KERNEL && relay_link_of(key) != context->link) {
        CUresult result = kernel_on(context, key, &key);
        if (result != CUDA_SUCCESS)
            return result;
    } else if ((type != TESSERA_HANDLE_FUNCTION && type != TESSERA_HANDLE_KERNEL) ||
               relay_link_of(key) != context->link) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    *wire = key;
    *function = table_find(&functions, key);
    return *function ? CUDA_SUCCESS : ask(context, key, function);
}

CUresult function_of(struct relay_context *context, const void *handle, struct function **function, uint64_t *wire)
{
    *wire = (uintptr_t)handle;
    *function = table_find(&functions, *wire); /* only handles of functions and kernels are there */
    bool known = *function && (*function)->link == context->link;
    return __builtin_expect(known, 1) ? CUDA_SUCCESS : find_elsewhere(context, *wire, function, wire);
}

static bool is_of_link(const void *value, const void *of)
{
    return ((const struct function *)value)->link == of;
}

void functions_forget(uint64_t handle)
{
    struct function *function = table_take(&functions, handle);
    if (!function)
        return;
    if (function->handle != handle && table_find(&functions, function->handle) == function &&
        table_take(&functions, function->handle))
        release(function);
    release(function);
}

void functions_forget_link(struct relay_link *link)
{
    struct function *function;
    uint32_t at = 0;
    while ((function = table_take_where(&functions, &at, is_of_link, link)) != NULL)
        release(function);
}

/* The context for a query on a kernel of a device: the current one if it belongs to that device. */
static CUresult context_on(CUdevice device, struct relay_context **context)
{
    struct relay_link *link;
    CUresult result = relay_link_at(device, &link);
    if (result != CUDA_SUCCESS)
        return result;
    *context = relay_current && relay_current->alive && relay_current->link == link ? relay_current
                                                                                    : relay_primary(link);
    return *context ? relay_link_state(link) : CUDA_ERROR_INVALID_DEVICE;
}

static CUresult get_attribute(struct relay_context *context, const void *handle, int attribute, int *value)
{
    struct function *function;
    uint64_t wire;
    if (!value || attribute < 0 || attribute >= (int)TESSERA_RELAY_FUNCTION_ATTRIBUTES)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = function_of(context, handle, &function, &wire);
    if (result != CUDA_SUCCESS)
        return result;
    if (!(function->valid & 1u << attribute))
        return CUDA_ERROR_INVALID_VALUE;
    *value = __atomic_load_n(&function->attributes[attribute], __ATOMIC_RELAXED);
    return CUDA_SUCCESS;
}

/* Attributes that a program may set, also per launch. The driver refuses all others. */
static bool is_settable(int attribute)
{
    return attribute >= CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES &&
           attribute != CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET;
}

/* Sends and remembers a change. An unchanged value is not sent: some libraries set it per launch. */
static CUresult set_attribute(struct relay_context *context, const void *handle, int attribute, int value)
{
    struct function *function;
    uint64_t wire;
    CUresult result = function_of(context, handle, &function, &wire);
    if (result != CUDA_SUCCESS)
        return result;
    if (attribute < 0 || attribute >= (int)TESSERA_RELAY_FUNCTION_ATTRIBUTES)
        return CUDA_ERROR_INVALID_VALUE;
    if (is_settable(attribute) && function->valid & 1u << attribute && function->attributes[attribute] == value)
        return CUDA_SUCCESS;
    result = relay_handle_type(wire) == TESSERA_HANDLE_KERNEL
                 ? MESSAGE_CALL(context, ENTRY_cuKernelSetAttribute, VALUE(attribute), VALUE((uint32_t)value),
                                VALUE(wire), VALUE(0))
                 : MESSAGE_CALL(context, ENTRY_cuFuncSetAttribute, VALUE(wire), VALUE(attribute),
                                VALUE((uint32_t)value));
    if (result == CUDA_SUCCESS) {
        __atomic_store_n(&function->attributes[attribute], value, __ATOMIC_RELAXED);
        function_answers_forget(function);
    }
    return result;
}

CUresult relay_cuFuncGetAttribute(int *value, int attribute, CUfunction function)
{
    struct relay_context *context;
    CUresult result = relay_enter(&context);
    return result != CUDA_SUCCESS ? result : get_attribute(context, function, attribute, value);
}

CUresult relay_cuFuncSetAttribute(CUfunction function, int attribute, int value)
{
    struct relay_context *context;
    CUresult result = relay_enter(&context);
    return result != CUDA_SUCCESS ? result : set_attribute(context, function, attribute, value);
}

CUresult relay_cuKernelGetAttribute(int *value, int attribute, CUkernel kernel, CUdevice device)
{
    struct relay_context *context;
    CUresult result = context_on(device, &context);
    return result != CUDA_SUCCESS ? result : get_attribute(context, kernel, attribute, value);
}

CUresult relay_cuKernelSetAttribute(int attribute, int value, CUkernel kernel, CUdevice device)
{
    struct relay_context *context;
    CUresult result = context_on(device, &context);
    return result != CUDA_SUCCESS ? result : set_attribute(context, kernel, attribute, value);
}

/* A hint: the driver may ignore it, and reports only wrong handles and values. */
CUresult relay_cuKernelSetCacheConfig(CUkernel kernel, int config, CUdevice device)
{
    struct relay_context *context;
    struct function *function;
    uint64_t wire;
    CUresult result = context_on(device, &context);
    if (result == CUDA_SUCCESS)
        result = function_of(context, kernel, &function, &wire);
    if (result != CUDA_SUCCESS)
        return result;
    if (config < 0 || config > 3)
        return CUDA_ERROR_INVALID_VALUE;
    return MESSAGE_POST(context, ENTRY_cuKernelSetCacheConfig, VALUE(wire), VALUE(config), VALUE(0));
}

/* What a program may ask of and set on its kernels. */
#include "runtime.h"

/* cudaFuncAttributes */
struct runtime_function_attributes {
    size_t shared_bytes, const_bytes, local_bytes;
    int max_threads, registers, ptx_version, binary_version, cache_mode_ca, max_dynamic_shared, carveout;
    int cluster_must_be_set, cluster_width, cluster_height, cluster_depth, cluster_policy, non_portable;
    int reserved[16];
};

static int attribute(CUkernel kernel, int which, cudaError_t *failed)
{
    int value = 0;
    if (!*failed)
        *failed = cuKernelGetAttribute(&value, which, kernel, current_device());
    return value;
}

EXPORT cudaError_t cudaFuncGetAttributes(struct runtime_function_attributes *out, const void *function);
EXPORT cudaError_t cudaFuncGetAttributes(struct runtime_function_attributes *out, const void *function)
{
    CUkernel kernel;
    if (!out)
        return keep(cudaErrorInvalidValue);
    cudaError_t failed = find_kernel(function, &kernel);
    if (failed)
        return failed;
    struct runtime_function_attributes found = {
        .shared_bytes = (size_t)attribute(kernel, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &failed),
        .const_bytes = (size_t)attribute(kernel, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, &failed),
        .local_bytes = (size_t)attribute(kernel, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &failed),
        .max_threads = attribute(kernel, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &failed),
        .registers = attribute(kernel, CU_FUNC_ATTRIBUTE_NUM_REGS, &failed),
        .ptx_version = attribute(kernel, CU_FUNC_ATTRIBUTE_PTX_VERSION, &failed),
        .binary_version = attribute(kernel, CU_FUNC_ATTRIBUTE_BINARY_VERSION, &failed),
        .cache_mode_ca = attribute(kernel, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, &failed),
        .max_dynamic_shared = attribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &failed),
        .carveout = attribute(kernel, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, &failed),
        .cluster_must_be_set = attribute(kernel, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, &failed),
        .cluster_width = attribute(kernel, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, &failed),
        .cluster_height = attribute(kernel, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, &failed),
        .cluster_depth = attribute(kernel, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, &failed),
        .cluster_policy = attribute(kernel, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, &failed),
        .non_portable = attribute(kernel, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, &failed),
    };
    if (!failed)
        *out = found;
    return keep(failed);
}

/* A call about the kernel behind the host function; `kernel` stands for it in the arguments. */
#define OF_KERNEL(name, parameters, call)                                                                              \
    EXPORT cudaError_t name parameters;                                                                                \
    EXPORT cudaError_t name parameters                                                                                 \
    {                                                                                                                  \
        CUkernel kernel;                                                                                               \
        cudaError_t failed = find_kernel(function, &kernel);                                                           \
        return failed ? failed : keep(call);                                                                           \
    }

OF_KERNEL(cudaFuncSetAttribute, (const void *function, int which, int value),
          cuKernelSetAttribute(which, value, kernel, current_device()))
OF_KERNEL(cudaFuncSetCacheConfig, (const void *function, int config),
          cuKernelSetCacheConfig(kernel, config, current_device()))
OF_KERNEL(cudaFuncGetName, (const char **text, const void *function), cuKernelGetName(text, kernel))
OF_KERNEL(cudaFuncGetParamInfo, (const void *function, size_t index, size_t *offset, size_t *bytes),
          cuKernelGetParamInfo(kernel, index, offset, bytes))
OF_KERNEL(cudaOccupancyMaxActiveBlocksPerMultiprocessor,
          (int *blocks, const void *function, int block_size, size_t shared_bytes),
          cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (CUfunction)kernel, block_size, shared_bytes))
OF_KERNEL(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
          (int *blocks, const void *function, int block_size, size_t shared_bytes, unsigned flags),
          cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (CUfunction)kernel, block_size, shared_bytes,
                                                               flags))
OF_KERNEL(cudaOccupancyAvailableDynamicSMemPerBlock, (size_t * bytes, const void *function, int blocks, int block_size),
          cuOccupancyAvailableDynamicSMemPerBlock(bytes, (CUfunction)kernel, blocks, block_size))

/* Bank widths are fixed since sm_50: the setting has had no effect for a decade, and has none here. */
OF_KERNEL(cudaFuncSetSharedMemConfig, (const void *function, int config),
          ((void)config, kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction))

FORWARD(cudaKernelSetAttributeForDevice, cuKernelSetAttribute, (CUkernel kernel, int which, int value, int device),
        (which, value, kernel, device))

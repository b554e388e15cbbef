/*
 * Kernels of clusters whose blocks access each other's shared memory: each block has a few bytes more than the program asks
 * for, and the program is told of none of them. Needs a device that reads images.
 */
#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

#define STATIC_BYTES 256
#define DEFAULT_BYTES (48 << 10)
#define THREADS 32
#define BLOCKS 2

/* The block reads what the other has at its static and at the end of its dynamic memory, in a loop. */
static const char IMAGE[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".extern .shared .align 16 .b8 rest[];\n"
    ".visible .entry exchange(.param .u64 p) .explicitcluster .reqnctapercluster 2, 1, 1\n{\n"
    " .reg .pred %p<3>;\n .reg .b32 %r<16>;\n .reg .b64 %d<4>;\n .shared .align 16 .b8 left[256];\n"
    " ld.param.u64 %d1, [p];\n mov.u32 %r1, %cluster_ctarank;\n xor.b32 %r2, %r1, 1;\n"
    " mov.u32 %r3, %dynamic_smem_size;\n mov.u32 %r4, left;\n mov.u32 %r5, rest;\n add.u32 %r5, %r5, %r3;\n"
    " setp.lt.u32 %p1, %r3, 4;\n @%p1 mov.u32 %r5, left;\n @%p1 add.u32 %r5, %r5, 4;\n sub.u32 %r5, %r5, 4;\n"
    " mapa.shared::cluster.u32 %r6, %r5, %r2;\n mov.u32 %r7, 0;\n mov.u32 %r8, 0;\n"
    "again:\n add.u32 %r9, %r1, %r7;\n st.volatile.shared.u32 [%r5], %r9;\n"
    " barrier.cluster.arrive.release.aligned;\n barrier.cluster.wait.acquire.aligned;\n"
    " ld.shared::cluster.u32 %r10, [%r6];\n add.u32 %r8, %r8, %r10;\n"
    " barrier.cluster.arrive.release.aligned;\n barrier.cluster.wait.acquire.aligned;\n"
    " add.u32 %r7, %r7, 1;\n setp.lt.u32 %p2, %r7, 10;\n @%p2 bra again;\n"
    " mul.wide.u32 %d2, %r1, 8;\n add.u64 %d1, %d1, %d2;\n st.global.v2.u32 [%d1], {%r8, %r3};\n ret;\n}\n"
    ".visible .entry nothing()\n{\n ret;\n}\n";

struct kernel_node { /* CUDA_KERNEL_NODE_PARAMS_v2 */
    void *function;
    unsigned grid[3], block[3], shared;
    void **parameters, **extra;
    void *kernel, *context;
};

CUresult cuFuncGetAttribute(int *value, int attribute, void *function);
CUresult cuFuncSetAttribute(void *function, int attribute, int value);
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, void *function, int blocks, int threads);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads, size_t shared);
CUresult cuGraphAddKernelNode_v2(void **node, void *graph, void *const *needs, size_t count,
                                 const struct kernel_node *p);
CUresult cuGraphKernelNodeGetParams_v2(void *node, struct kernel_node *p);

static void *kernel;
static CUdeviceptr out;

static CUresult launch(unsigned shared)
{
    void *parameters[] = {&out};
    return cuLaunchKernel(kernel, BLOCKS, 1, 1, THREADS, 1, 1, shared, NULL, parameters, NULL);
}

struct attribute { /* CUlaunchAttribute */
    int id, pad;
    unsigned value[16];
};

/** A grid of clusters of two blocks, of a kernel that says nothing of clusters. */
static int in_pairs(void *nothing, unsigned blocks)
{
    struct attribute pairs = {CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, 0, {2, 1, 1}};
    struct call_launch how = {{blocks, 1, 1}, {THREADS, 1, 1}, 0, NULL, &pairs, 1};
    return cuLaunchKernelEx(&how, nothing, NULL, NULL);
}

static void computes(unsigned shared)
{
    unsigned found[2 * BLOCKS];
    OKAY(cuMemcpyDtoH_v2(found, out, sizeof found));
    for (unsigned block = 0; block < BLOCKS; block++) {
        EQUAL(45 + 10 * (1 - block), found[2 * block]);
        EQUAL(shared, found[2 * block + 1]);
    }
    OKAY(cuMemsetD8_v2(out, 0, sizeof found));
}

static void runs(unsigned shared)
{
    OKAY(launch(shared));
    computes(shared);
}

static void graph(unsigned shared)
{
    void *parameters[] = {&out}, *made, *node, *exec;
    struct kernel_node asked = {kernel, {BLOCKS, 1, 1}, {THREADS, 1, 1}, shared, parameters, NULL, NULL, NULL}, back;
    OKAY(cuGraphCreate(&made, 0));
    OKAY(cuGraphAddKernelNode_v2(&node, made, NULL, 0, &asked));
    OKAY(cuGraphKernelNodeGetParams_v2(node, &back));
    EQUAL(shared, back.shared);
    OKAY(cuGraphInstantiateWithFlags(&exec, made, 0));
    OKAY(cuGraphLaunch(exec, NULL));
    computes(shared);
}

int main(void)
{
    void *context, *module, *nothing;
    int most = 0, all = 0, blocks = 0;
    size_t room = 0;
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuModuleLoadData(&module, IMAGE));
    OKAY(cuModuleGetFunction(&kernel, module, "exchange"));
    OKAY(cuModuleGetFunction(&nothing, module, "nothing"));
    OKAY(cuMemAlloc_v2(&out, 8 * BLOCKS));
    OKAY(cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel));
    EQUAL(DEFAULT_BYTES - STATIC_BYTES, most);
    runs(0);
    runs(20);
    runs((unsigned)most);
    graph(64);
    OKAY(in_pairs(nothing, 4));
    OKAY(cuStreamSynchronize(NULL));
    EQUAL(CUDA_ERROR_INVALID_CLUSTER_SIZE, in_pairs(nothing, 5)); /* as on an H200 */
    OKAY(cuOccupancyAvailableDynamicSMemPerBlock(&room, kernel, 1, THREADS));
    OKAY(cuDeviceGetAttribute(&all, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0));
    CHECK(room <= (size_t)all - STATIC_BYTES - 24);
    OKAY(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000));
    OKAY(cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel));
    EQUAL(60000, most);
    runs(60000);
    EQUAL(CUDA_ERROR_INVALID_VALUE, launch(60001));
    OKAY(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, all - STATIC_BYTES));
    OKAY(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, THREADS, (size_t)all - STATIC_BYTES - 24));
    EQUAL(1, blocks);
    runs((unsigned)all - STATIC_BYTES - 24);
    OKAY(launch((unsigned)all - STATIC_BYTES)); /* the device says later that there is no room for more */
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuStreamSynchronize(NULL));
    printf("clusters ok\n");
    return 0;
}

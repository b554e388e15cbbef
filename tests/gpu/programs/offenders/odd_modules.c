/* Modules, libraries and linking: odd options and images, and what is unloaded while it is used. */
#include "odd.h"

enum { BUSY_MS = 200 };

static void module_unloaded_while_it_runs(void)
{
    CUfunction again;
    odd_keep_busy(the.stream, BUSY_MS);
    CALL(cuModuleUnload, the.module);
    CALL(cuModuleUnload, the.module);
    CALL(cuModuleGetFunction, &again, the.module, "add");
    odd_launch(the.add, the.stream);
    CALL(cuStreamSynchronize, the.stream);
}

static void functions_of_unloaded_modules(void)
{
    int value;
    const char *name;
    CUmodule module;
    CUdeviceptr variable;
    size_t size, offset;
    CALL(cuModuleGetGlobal, &variable, &size, the.module, "counter");
    CALL(cuModuleUnload, the.module);
    CALL(cuFuncGetAttribute, &value, CU_FUNC_ATTRIBUTE_NUM_REGS, the.add);
    CALL(cuFuncSetAttribute, the.add, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024);
    CALL(cuFuncGetModule, &module, the.add);
    CALL(cuFuncGetName, &name, the.add);
    CALL(cuFuncGetParamInfo, the.add, 0, &offset, &size);
    CALL(cuFuncLoad, the.add);
    CALL(cuModuleGetGlobal, &variable, &size, the.module, "counter");
    CALL(cuMemFree, variable);
    CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor, &value, the.add, 32, 0);
}

static void functions_of_odd_names(void)
{
    static char long_name[70000];
    CUfunction function;
    CUdeviceptr variable;
    size_t size;
    memset(long_name, 'a', sizeof long_name - 1);
    CALL(cuModuleGetFunction, &function, the.module, long_name);
    CALL(cuModuleGetFunction, &function, the.module, "");
    CALL(cuModuleGetFunction, &function, the.module, "counter");
    CALL(cuModuleGetFunction, &function, the.module, "%s%n");
    CALL(cuModuleGetGlobal, &variable, &size, the.module, "add");
    CALL(cuModuleGetGlobal, NULL, NULL, the.module, "counter");
    CALL(cuModuleGetFunctionCount, NULL, the.module);
    CALL(cuModuleEnumerateFunctions, &function, ~0u, NULL);
}

static void function_attributes_odd(void)
{
    static const int values[] = {0, -1, 1, 0x7fffffff, -0x7fffffff};
    int value;
    size_t offset, size;
    for (unsigned id = 0; id < 20; id++) {
        CALL(cuFuncGetAttribute, &value, id, the.add);
        for (int at = 0; at < 5; at++)
            CALL(cuFuncSetAttribute, the.add, id, values[at]);
    }
    CALL(cuFuncSetAttribute, the.add, 0x7fffffff, 1);
    CALL(cuFuncSetCacheConfig, the.add, 77);
    CALL(cuFuncSetSharedMemConfig, the.add, 77);
    CALL(cuFuncGetParamInfo, the.add, ~(size_t)0, &offset, &size);
    odd_launch(the.add, the.stream);
}

static void module_options_odd(void)
{
    CUmodule module;
    static char log[64];
    for (unsigned id = 0; id < 36; id++) {
        CUjit_option option = id;
        void *values[] = {id % 2 ? log : (void *)(uintptr_t)id};
        if (id == CU_JIT_INFO_LOG_BUFFER || id == CU_JIT_ERROR_LOG_BUFFER || id == CU_JIT_WALL_TIME)
            values[0] = log;
        else if (id == CU_JIT_GLOBAL_SYMBOL_NAMES || id == CU_JIT_GLOBAL_SYMBOL_ADDRESSES ||
                 (id >= CU_JIT_REFERENCED_KERNEL_NAMES && id <= CU_JIT_REFERENCED_VARIABLE_COUNT))
            continue; /* pointers to what is read: foreign ones */
        CALL(cuModuleLoadDataEx, &module, odd_text, 1, &option, values);
    }
    CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *none[] = {log, 0}, *one[] = {log, (void *)1};
    CALL(cuModuleLoadDataEx, &module, odd_text, 2, options, none);
    CALL(cuModuleLoadDataEx, &module, odd_text, 2, options, one);
    CALL(cuModuleLoadDataEx, &module, odd_text, 1, options + 1, one + 1);
}

static void module_compiled_for_odd_targets(void)
{
    CUmodule module;
    CUjit_option options[] = {CU_JIT_MAX_REGISTERS, CU_JIT_THREADS_PER_BLOCK, CU_JIT_OPTIMIZATION_LEVEL, CU_JIT_TARGET};
    void *small[] = {(void *)1, (void *)1, (void *)77, (void *)10};
    void *large[] = {(void *)0xffffffff, (void *)0xffffffff, (void *)0, (void *)0x7fffffff};
    for (unsigned count = 1; count <= 4; count++) {
        CALL(cuModuleLoadDataEx, &module, odd_text, count, options, small);
        CALL(cuModuleLoadDataEx, &module, odd_text, count, options, large);
    }
}

static void linker_of_odd_data(void)
{
    CUlinkState linker = NULL;
    void *image;
    size_t size;
    CALL(cuLinkCreate, 0, NULL, NULL, &linker);
    CALL(cuLinkAddData, linker, CU_JIT_INPUT_PTX, (void *)(uintptr_t)odd_text, 0, "empty", 0, NULL, NULL);
    CALL(cuLinkAddData, linker, CU_JIT_INPUT_PTX, (void *)(uintptr_t)odd_text, 17, "cut", 0, NULL, NULL);
    for (unsigned kind = 0; kind < 9; kind++)
        CALL(cuLinkAddData, linker, kind, (void *)(uintptr_t)odd_text, strlen(odd_text) + 1, "text", 0, NULL, NULL);
    CALL(cuLinkAddFile, linker, CU_JIT_INPUT_PTX, "/dev/null", 0, NULL, NULL);
    CALL(cuLinkAddFile, linker, CU_JIT_INPUT_PTX, "/", 0, NULL, NULL);
    CALL(cuLinkComplete, linker, &image, &size);
    CALL(cuLinkComplete, linker, &image, &size);
    CALL(cuLinkAddData, linker, CU_JIT_INPUT_PTX, (void *)(uintptr_t)odd_text, strlen(odd_text) + 1, "", 0, NULL, NULL);
    CALL(cuLinkDestroy, linker);
    CALL(cuLinkDestroy, linker);
    CALL(cuLinkComplete, linker, &image, &size);
}

static void linker_of_nothing(void)
{
    CUlinkState linker = NULL;
    void *image;
    size_t size;
    CALL(cuLinkCreate, 0, NULL, NULL, &linker);
    CALL(cuLinkComplete, linker, &image, &size);
    CALL(cuLinkDestroy, linker);
    CALL(cuModuleLoadData, &the.module, image);
}

static void library_unloaded_oddly(void)
{
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    CUfunction function = NULL;
    CUmodule module = NULL;
    int value;
    CALL(cuLibraryLoadData, &library, odd_text, NULL, NULL, 0, NULL, NULL, 0);
    CALL(cuLibraryGetKernel, &kernel, library, "add");
    CALL(cuKernelGetFunction, &function, kernel);
    CALL(cuLibraryGetModule, &module, library);
    CALL(cuModuleUnload, module);
    odd_launch(function, the.stream);
    CALL(cuLibraryUnload, library);
    CALL(cuLibraryUnload, library);
    CALL(cuKernelGetAttribute, &value, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, the.device);
    CALL(cuKernelGetFunction, &function, kernel);
    odd_launch(function, the.stream);
    odd_launch((CUfunction)kernel, the.stream);
}

static void library_unloaded_while_it_runs(void)
{
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    uint64_t nanoseconds = BUSY_MS * 1000000ull;
    void *parameters[] = {&nanoseconds};
    CALL(cuLibraryLoadData, &library, odd_text, NULL, NULL, 0, NULL, NULL, 0);
    CALL(cuLibraryGetKernel, &kernel, library, "spins");
    CALL(cuLaunchKernel, (CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, the.stream, parameters, NULL);
    CALL(cuLibraryUnload, library);
    CALL(cuLaunchKernel, (CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, the.stream, parameters, NULL);
}

static void library_options_odd(void)
{
    CUlibrary library;
    CUlibraryOption ids[] = {CU_LIBRARY_BINARY_IS_PRESERVED, 77};
    void *values[] = {(void *)1, (void *)77};
    CUkernel kernels[2];
    unsigned count;
    CALL(cuLibraryLoadData, &library, odd_text, NULL, NULL, 0, ids, values, 2);
    CALL(cuLibraryLoadData, &library, odd_text, NULL, NULL, 0, ids, values, 1);
    CALL(cuLibraryGetKernelCount, &count, library);
    CALL(cuLibraryEnumerateKernels, kernels, 0, library);
    CALL(cuLibraryEnumerateKernels, kernels, 2, library);
    CALL(cuKernelSetAttribute, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, -1, kernels[0], the.device);
    CALL(cuKernelSetAttribute, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1, kernels[0], 77);
    CALL(cuKernelSetCacheConfig, kernels[0], 77, the.device);
}

static void modules_loaded_500_times(void)
{
    odd_say("cuModuleLoadData and cuModuleUnload, 500 times");
    for (int many = 0; many < 500; many++) {
        CUmodule module;
        if (QUIET(cuModuleLoadData, &module, odd_text) != CUDA_SUCCESS || QUIET(cuModuleUnload, module) != CUDA_SUCCESS)
            break;
    }
}

const struct odd_case odd_modules[] = {
    ODD_CASE(module_unloaded_while_it_runs, "a module is unloaded twice while its kernel runs"),
    ODD_CASE(functions_of_unloaded_modules, "functions and variables of an unloaded module are asked"),
    ODD_CASE(functions_of_odd_names, "functions of odd names are looked for"),
    ODD_CASE(function_attributes_odd, "attributes of a function of every id with odd values"),
    ODD_CASE(module_options_odd, "a module is loaded with each option, and with logs of no bytes"),
    ODD_CASE(module_compiled_for_odd_targets, "a module is compiled for odd registers, threads and targets"),
    ODD_CASE(linker_of_odd_data, "a linker gets data of wrong kinds and sizes, and is used after its end"),
    ODD_CASE(linker_of_nothing, "a linker completes nothing"),
    ODD_CASE(library_unloaded_oddly, "the module of a library is unloaded, then the library twice"),
    ODD_CASE(library_unloaded_while_it_runs, "a library is unloaded while its kernel runs"),
    ODD_CASE(library_options_odd, "a library is loaded with odd options, its kernels get odd attributes"),
    ODD_CASE(modules_loaded_500_times, "a module is loaded and unloaded 500 times"),
    {0},
};

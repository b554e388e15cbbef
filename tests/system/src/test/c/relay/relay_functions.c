/*
 * The kernels of a module, by the public calls and by the export table that cuFFT asks for: both name the same, and what the
 * table gives can be launched. Needs a device that reads images.
 */
#include <string.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

typedef void (*visit)(void *with, void *function, const char *name, uintptr_t zero, uintptr_t also_zero);
typedef uintptr_t (*each_function)(void *context, void *module, visit visitor, void *with);

static const unsigned char TABLE[16] = {0x6e, 0x16, 0x3f, 0xbe, 0xb9, 0x58, 0x44, 0x4d,
                                        0x83, 0x5c, 0xe1, 0x82, 0xaf, 0xf1, 0x99, 0x1e};
static const char IMAGE[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                            ".visible .entry first(.param .u64 p)\n{\n  .reg .b64 %rd<2>;\n"
                            "  ld.param.u64 %rd1, [p];\n  st.global.u32 [%rd1], 41;\n  ret;\n}\n"
                            ".visible .entry second(.param .u64 p)\n{\n  .reg .b64 %rd<2>;\n"
                            "  ld.param.u64 %rd1, [p];\n  st.global.u32 [%rd1], 42;\n  ret;\n}\n";

CUresult cuModuleGetFunctionCount(unsigned *count, void *module);
CUresult cuFuncGetAttribute(int *value, int attribute, void *function);
CUresult cuFuncSetAttribute(void *function, int attribute, int value);

static struct seen {
    unsigned count;
    void *function[8];
    char name[8][32];
} seen;

static void note(void *with, void *function, const char *name, uintptr_t zero, uintptr_t also_zero)
{
    CHECK(with == &seen && zero == 0 && also_zero == 0 && seen.count < 8);
    seen.function[seen.count] = function;
    snprintf(seen.name[seen.count++], sizeof seen.name[0], "%s", name);
}

/* A fact of a kernel cannot be set, not even to its own value; a settable attribute is set, twice the same too. */
static void attributes(void *function)
{
    static const int facts[] = {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, CU_FUNC_ATTRIBUTE_NUM_REGS,
                                CU_FUNC_ATTRIBUTE_BINARY_VERSION};
    int value;
    for (unsigned i = 0; i < sizeof facts / sizeof *facts; i++) {
        OKAY(cuFuncGetAttribute(&value, facts[i], function));
        EQUAL(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(function, facts[i], value));
    }
    for (unsigned i = 0; i < 2; i++)
        OKAY(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 4096));
    OKAY(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function));
    EQUAL(4096, value);
}

int main(void)
{
    const void *const *table;
    void *context, *module;
    CUdeviceptr cell;
    unsigned count = 0, value = 0;
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuModuleLoadData(&module, IMAGE));
    OKAY(cuMemAlloc_v2(&cell, 4));
    OKAY(cuGetExportTable((const void **)&table, TABLE));
    CHECK((uintptr_t)table[0] > 8 * sizeof *table);
    each_function each = (each_function)(uintptr_t)table[7];
    OKAY(cuModuleGetFunctionCount(&count, module));
    EQUAL(2, count);
    EQUAL(2, each(context, module, note, &seen));
    EQUAL(2, seen.count);
    for (unsigned i = 0; i < 2; i++) {
        void *parameters[] = {&cell}, *named;
        OKAY(cuModuleGetFunction(&named, module, seen.name[i]));
        CHECK(named == seen.function[i]);
        OKAY(cuLaunchKernel(seen.function[i], 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
        OKAY(cuMemcpyDtoH_v2(&value, cell, 4));
        EQUAL(strcmp(seen.name[i], "first") == 0 ? 41 : 42, value);
    }
    CHECK(strcmp(seen.name[0], seen.name[1]) != 0);
    attributes(seen.function[0]);
    OKAY(cuCtxSetCurrent(NULL)); /* the context is named */
    EQUAL(2, each(context, module, note, &seen));
    OKAY(cuCtxSetCurrent(context));
    EQUAL(0, each(context, &seen, note, &seen));
    EQUAL(0, each(&seen, module, note, &seen));
    EQUAL(4, seen.count);
    printf("functions ok\n");
    return 0;
}

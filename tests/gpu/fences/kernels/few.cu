// Kernels of the programs of the suite `mixes`, which leave most of a GPU idle: nothing hides how long an instruction takes.
#include "../../programs/mix/chunks.cuh"
#include "../../programs/mix/product.cuh"

#define PRODUCT(NAME, TRANSPOSE_A, TRANSPOSE_B)                                                                                   \
    extern "C" __global__ void NAME(int rows, int columns, int depth, float scale, const float *a, const float *b, float keep,    \
                                    float *c)                                                                                     \
    {                                                                                                                             \
        multiply<TRANSPOSE_A, TRANSPOSE_B>(rows, columns, depth, scale, a, b, keep, c);                                           \
    }
PRODUCT(productFew, false, false)
PRODUCT(productFewRight, false, true)
PRODUCT(productFewLeft, true, false)

extern "C" __global__ void sortFew(int n, int from, int to, uint32_t *keys)
{
    sortChunks(n, from, to, keys);
}

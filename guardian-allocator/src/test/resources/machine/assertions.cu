// Kernels whose assertions say where they are; AssertionTextsTest has the lines.
#undef NDEBUG
#include <cassert>

__global__ void bounds(int *data, int count) {
    int i = threadIdx.x;
    assert(i < count && "index out of bounds");
    if (data[i] == 7) {
        assert(data[i + 1] != 3);
    }
    data[i] = 1;
}

__device__ __noinline__ void positive(int *data) {
    assert(data[3] > 0);
    data[3] = 2;
}

__global__ void calls(int *data) {
    positive(data);
    assert(data[9]);
}

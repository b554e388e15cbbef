// The machine code and the fat binary whose bytes `odd_calls` changes: a kernel with memory of each kind, a variable and a call.
__device__ int odd_variable = 7;
__constant__ int odd_constants[64];

__device__ __noinline__ int odd_called(int value) {
    return value * odd_constants[value & 63] + 1;
}

extern "C" __global__ void odd_kernel(int *memory) {
    __shared__ int shared[128];
    shared[threadIdx.x & 127] = odd_called(memory[0]);
    __syncthreads();
    memory[0] = shared[(threadIdx.x + 1) & 127] + odd_variable;
}

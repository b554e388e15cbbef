// printf on the device, in the order of one thread, before what the host prints after a synchronisation; in a module with an
// assertion, which holds.
#include "check.cuh"

#include <cassert>

__global__ void speak(int n)
{
    assert(n > 0);
    if (threadIdx.x == 0)
        for (int i = 0; i < n; i++)
            printf("line %d of %d: %5.2f %s %c %x\n", i + 1, n, i * 1.5, "text", 'a' + i, 255 + i);
}

int main()
{
    speak<<<1, 32>>>(3);
    CHECK(cudaDeviceSynchronize());
    std::printf("after\n");
    return 0;
}

/* The kernel of driver_launch.cu: the scripted driver knows its name and does the same. */
extern "C" __global__ void scripted_fill(unsigned long long pointer, unsigned value, unsigned long long count)
{
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (i < count)
        reinterpret_cast<unsigned *>(pointer)[i] = value;
}

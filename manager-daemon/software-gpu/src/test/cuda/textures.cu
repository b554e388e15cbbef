// Texture and surface objects.
extern "C" __global__ void sample(cudaTextureObject_t texture, const float2 *at, float4 *out)
{
    float2 p = at[threadIdx.x];
    out[threadIdx.x] = tex2D<float4>(texture, p.x, p.y);
}

extern "C" __global__ void fetch(cudaTextureObject_t texture, int *out)
{
    out[threadIdx.x] = tex1Dfetch<int>(texture, (int)threadIdx.x - 2);
}

extern "C" __global__ void invert(cudaSurfaceObject_t surface)
{
    int value = surf2Dread<int>(surface, threadIdx.x * 4, threadIdx.y, cudaBoundaryModeZero);
    surf2Dwrite(~value, surface, threadIdx.x * 4, threadIdx.y);
}

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

extern "C" __global__ void levels(cudaTextureObject_t texture, const float *detail, float *out)
{
    out[threadIdx.x] = tex2DLod<float>(texture, 0.1f, 0.1f, detail[threadIdx.x]);
}

extern "C" __global__ void gradients(cudaTextureObject_t texture, const float *step, float *out)
{
    float s = step[threadIdx.x];
    out[threadIdx.x] = tex2DGrad<float>(texture, 0.1f, 0.1f, make_float2(s, 0), make_float2(0, s / 2));
}

extern "C" __global__ void volumes(cudaTextureObject_t texture, const float *detail, float *out)
{
    out[threadIdx.x] = tex3DLod<float>(texture, 0.1f, 0.1f, 0.1f, detail[threadIdx.x]);
}

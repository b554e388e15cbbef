// State spaces, textures and surfaces, asynchronous copies, managed memory, inline assembly.
#include <cuda_pipeline.h>
__constant__ float coefficients[4] = {1, 2, 3, 4};
__managed__ int managed = 7;
__device__ float4 vectors[3] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
__device__ double matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
__device__ const char *names[] = {"one", "two"};
__device__ int plain = 3;
__device__ int *inner = &plain;
extern __shared__ char dynamic[];
__global__ void spaces(float *out, const float *__restrict__ in, int n)
{
    __shared__ float tile[32][33];
    float *d = (float *)dynamic;
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = __ldg(in + y * n + x);
    d[x] = coefficients[x & 3] + matrix[y & 1][x % 3] + names[x & 1][0];
    __syncthreads();
    float local[16];
    for (int i = 0; i < 16; i++) local[i] = tile[i][x] + vectors[i % 3].y;
    out[y * n + x] = local[(int)d[x] & 15] + managed + *inner;
    *(float4 *)(out + 1024) = *(const float4 *)(in + 4 * x);
}
__global__ void textures(cudaTextureObject_t t, cudaSurfaceObject_t s, float4 *out)
{
    int i = threadIdx.x;
    out[i] = tex2D<float4>(t, i * 0.5f, 1.0f);
    out[i].x += tex1Dfetch<float>(t, i) + tex3D<float>(t, 1.f, 2.f, 3.f) + tex2DLod<float>(t, 1.f, 2.f, 1.f);
    out[i].y += tex2Dgather<float4>(t, 1.f, 2.f, 1).x + tex2DLayered<float>(t, 1.f, 2.f, 1);
    float v = surf2Dread<float>(s, i * 4, 1);
    surf2Dwrite(v + 1, s, i * 4, 2);
}
#if __CUDA_ARCH__ >= 800
__global__ void copies(const float4 *in, float4 *out)
{
    __shared__ float4 tile[128];
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = tile[127 - threadIdx.x];
}
#endif
__global__ void assembly(unsigned *p, unsigned long long *q)
{
    unsigned a = p[0], b;
    asm volatile("{\n .reg .pred q1, q2;\n .reg .b32 t<2>;\n setp.gt.u32 q1|q2, %1, 7;\n @!q2 mov.u32 t0, 0x10;\n"
                 "@q2 bra DONE_%=;\n mov.u32 t0, 1+2*8;\nDONE_%=:\n vadd.u32.u32.u32.sat %0, t0.b0, %1.h1;\n}" : "=r"(b) : "r"(a));
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(a));
    asm volatile("mov.b64 %0, {%1, %2};" : "=l"(*q) : "r"(a), "r"(b));
    asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
    asm volatile("st.global.cs.v2.u32 [%0+8], {%1, %2};" ::"l"(p), "r"(a), "r"(b) : "memory");
    asm volatile("{ .reg .f32 x; mov.f32 x, 1.5; add.rn.ftz.f32 x, x, -0.25e1; }");
    p[3] = b;
}

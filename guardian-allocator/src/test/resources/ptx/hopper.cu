// sm_90a: barriers in shared memory, bulk copies, warp-group matrices.
#if __CUDA_ARCH__ >= 900
#include <cuda.h>
__global__ void bulk(const __grid_constant__ CUtensorMap map, float *in, float *out)
{
    __shared__ alignas(128) float tile[1024];
    __shared__ alignas(8) unsigned long long barrier;
    unsigned t = (unsigned)__cvta_generic_to_shared(tile), b = (unsigned)__cvta_generic_to_shared(&barrier);
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(b));
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;" ::"r"(b));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 4096, [%2];" ::"r"(t), "l"(in), "r"(b));
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(t), "l"(&map), "r"(0), "r"(1), "r"(b));
    asm volatile("{\n .reg .pred P;\n LAB_WAIT:\n mbarrier.try_wait.parity.shared::cta.b64 P, [%0], 0;\n @P bra DONE;\n bra LAB_WAIT;\n DONE:\n}" ::"r"(b));
    asm volatile("{\n .reg .pred P;\n LAB_WAIT:\n mbarrier.try_wait.parity.shared::cta.b64 P, [%0], 1;\n @P bra DONE;\n bra LAB_WAIT;\n DONE:\n}" ::"r"(b));
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 4096;" ::"l"(out), "r"(t));
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;");
    asm volatile("fence.proxy.async.shared::cta; griddepcontrol.wait; griddepcontrol.launch_dependents;");
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map));
    unsigned leader;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(leader));
    out[leader] = tile[threadIdx.x];
}
__global__ void groups(float *d, unsigned long long a, unsigned long long b)
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    asm volatile("wgmma.fence.sync.aligned;");
    asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, 1, 0;\n wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, p, 1, 1, 0, 0;\n}"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b));
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;");
    unsigned long long policy;
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 0.5;" : "=l"(policy));
    asm volatile("ld.global.L1::no_allocate.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(d[5]) : "l"(d), "l"(policy));
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) : "l"(d));
}
#endif

package io.tessera.software.compile;

/** Kernels in the form that nvcc gives them, used by several tests. */
final class SampleKernels {
    private static final String HEADER = """
            .version 8.0
            .target sm_90
            .address_size 64
            """;

    /** {@code c[i] = a[i] + b[i]} for i below n. */
    static final String VECTOR_ADD = HEADER + """
            .visible .entry vector_add(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u32 pn)
            {
              .reg .pred %p<2>;
              .reg .f32 %f<4>;
              .reg .b32 %r<6>;
              .reg .b64 %rd<11>;
              ld.param.u64 %rd1, [pa];
              ld.param.u64 %rd2, [pb];
              ld.param.u64 %rd3, [pc];
              ld.param.u32 %r2, [pn];
              mov.u32 %r3, %ctaid.x;
              mov.u32 %r4, %ntid.x;
              mov.u32 %r5, %tid.x;
              mad.lo.s32 %r1, %r3, %r4, %r5;
              setp.ge.s32 %p1, %r1, %r2;
              @%p1 bra $END;
              cvta.to.global.u64 %rd4, %rd1;
              mul.wide.s32 %rd5, %r1, 4;
              add.s64 %rd6, %rd4, %rd5;
              cvta.to.global.u64 %rd7, %rd2;
              add.s64 %rd8, %rd7, %rd5;
              ld.global.f32 %f1, [%rd8];
              ld.global.f32 %f2, [%rd6];
              add.f32 %f3, %f2, %f1;
              cvta.to.global.u64 %rd9, %rd3;
              add.s64 %rd10, %rd9, %rd5;
              st.global.f32 [%rd10], %f3;
            $END:
              ret;
            }
            """;

    /** Row-major {@code C = A * B} of n times n floats, n a multiple of 16; blocks of 16 x 16 with tiles in shared. */
    static final String TILED_GEMM = HEADER + """
            .visible .entry tiled_gemm(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u32 pn)
            {
              .reg .pred %p<4>;
              .reg .f32 %f<8>;
              .reg .b32 %r<40>;
              .reg .b64 %rd<20>;
              .shared .align 4 .b8 tileA[1024];
              .shared .align 4 .b8 tileB[1024];
              ld.param.u64 %rd1, [pa];
              ld.param.u64 %rd2, [pb];
              ld.param.u64 %rd3, [pc];
              ld.param.u32 %r1, [pn];
              mov.u32 %r2, %tid.x;
              mov.u32 %r3, %tid.y;
              mov.u32 %r4, %ctaid.x;
              mov.u32 %r5, %ctaid.y;
              shl.b32 %r6, %r5, 4;
              add.s32 %r7, %r6, %r3;          // row
              shl.b32 %r8, %r4, 4;
              add.s32 %r9, %r8, %r2;          // column
              mov.u32 %r10, tileA;
              mov.u32 %r11, tileB;
              shl.b32 %r12, %r3, 6;
              add.s32 %r13, %r10, %r12;       // row of tileA
              shl.b32 %r14, %r2, 2;
              add.s32 %r15, %r13, %r14;       // own place in tileA
              add.s32 %r16, %r11, %r12;
              add.s32 %r17, %r16, %r14;       // own place in tileB
              add.s32 %r18, %r11, %r14;       // column of tileB
              mov.f32 %f1, 0f00000000;
              mov.u32 %r20, 0;
            $TILE:
              setp.ge.s32 %p1, %r20, %r1;
              @%p1 bra $STORE;
              add.s32 %r21, %r20, %r2;
              mad.lo.s32 %r22, %r7, %r1, %r21;
              mul.wide.s32 %rd4, %r22, 4;
              add.s64 %rd5, %rd1, %rd4;
              ld.global.f32 %f2, [%rd5];
              st.shared.f32 [%r15], %f2;
              add.s32 %r23, %r20, %r3;
              mad.lo.s32 %r24, %r23, %r1, %r9;
              mul.wide.s32 %rd6, %r24, 4;
              add.s64 %rd7, %rd2, %rd6;
              ld.global.f32 %f3, [%rd7];
              st.shared.f32 [%r17], %f3;
              bar.sync 0;
              mov.u32 %r25, 0;
              mov.u32 %r26, %r13;
              mov.u32 %r27, %r18;
            $INNER:
              ld.shared.f32 %f4, [%r26];
              ld.shared.f32 %f5, [%r27];
              fma.rn.f32 %f1, %f4, %f5, %f1;
              ld.shared.f32 %f4, [%r26+4];
              ld.shared.f32 %f5, [%r27+64];
              fma.rn.f32 %f1, %f4, %f5, %f1;
              ld.shared.f32 %f4, [%r26+8];
              ld.shared.f32 %f5, [%r27+128];
              fma.rn.f32 %f1, %f4, %f5, %f1;
              ld.shared.f32 %f4, [%r26+12];
              ld.shared.f32 %f5, [%r27+192];
              fma.rn.f32 %f1, %f4, %f5, %f1;
              add.s32 %r26, %r26, 16;
              add.s32 %r27, %r27, 256;
              add.s32 %r25, %r25, 4;
              setp.lt.s32 %p2, %r25, 16;
              @%p2 bra $INNER;
              bar.sync 0;
              add.s32 %r20, %r20, 16;
              bra.uni $TILE;
            $STORE:
              mad.lo.s32 %r30, %r7, %r1, %r9;
              mul.wide.s32 %rd8, %r30, 4;
              add.s64 %rd9, %rd3, %rd8;
              st.global.f32 [%rd9], %f1;
              ret;
            }
            """;

    /** Sums n floats with a grid-stride loop, shuffles and shared memory; one partial sum a block. */
    static final String REDUCTION = HEADER + """
            .visible .entry reduction(.param .u64 pin, .param .u64 pout, .param .u32 pn)
            {
              .reg .pred %p<8>;
              .reg .f32 %f<20>;
              .reg .b32 %r<30>;
              .reg .b64 %rd<10>;
              .shared .align 4 .b8 partial[128];
              ld.param.u64 %rd1, [pin];
              ld.param.u64 %rd2, [pout];
              ld.param.u32 %r1, [pn];
              mov.u32 %r2, %tid.x;
              mov.u32 %r3, %ctaid.x;
              mov.u32 %r4, %ntid.x;
              mov.u32 %r5, %nctaid.x;
              mad.lo.s32 %r6, %r3, %r4, %r2;
              mul.lo.s32 %r7, %r4, %r5;
              mov.f32 %f1, 0f00000000;
            $LOOP:
              setp.ge.s32 %p1, %r6, %r1;
              @%p1 bra $WARP;
              mul.wide.s32 %rd3, %r6, 4;
              add.s64 %rd4, %rd1, %rd3;
              ld.global.f32 %f2, [%rd4];
              add.f32 %f1, %f1, %f2;
              add.s32 %r6, %r6, %r7;
              bra.uni $LOOP;
            $WARP:
              mov.b32 %r10, %f1;
              shfl.sync.down.b32 %r11|%p2, %r10, 16, 31, -1;
              mov.b32 %f3, %r11;
              add.f32 %f4, %f1, %f3;
              mov.b32 %r12, %f4;
              shfl.sync.down.b32 %r13|%p2, %r12, 8, 31, -1;
              mov.b32 %f5, %r13;
              add.f32 %f6, %f4, %f5;
              mov.b32 %r14, %f6;
              shfl.sync.down.b32 %r15|%p2, %r14, 4, 31, -1;
              mov.b32 %f7, %r15;
              add.f32 %f8, %f6, %f7;
              mov.b32 %r16, %f8;
              shfl.sync.down.b32 %r17|%p2, %r16, 2, 31, -1;
              mov.b32 %f9, %r17;
              add.f32 %f10, %f8, %f9;
              mov.b32 %r18, %f10;
              shfl.sync.down.b32 %r19|%p2, %r18, 1, 31, -1;
              mov.b32 %f11, %r19;
              add.f32 %f12, %f10, %f11;
              and.b32 %r20, %r2, 31;
              setp.ne.s32 %p3, %r20, 0;
              shr.u32 %r21, %r2, 5;
              shl.b32 %r22, %r21, 2;
              mov.u32 %r23, partial;
              add.s32 %r24, %r23, %r22;
              @!%p3 st.shared.f32 [%r24], %f12;
              bar.sync 0;
              setp.ne.s32 %p4, %r2, 0;
              @%p4 bra $END;
              shr.u32 %r25, %r4, 5;
              mov.f32 %f13, 0f00000000;
              mov.u32 %r26, 0;
            $SUM:
              ld.shared.f32 %f14, [%r23];
              add.f32 %f13, %f13, %f14;
              add.s32 %r23, %r23, 4;
              add.s32 %r26, %r26, 1;
              setp.lt.u32 %p5, %r26, %r25;
              @%p5 bra $SUM;
              mul.wide.u32 %rd5, %r3, 4;
              add.s64 %rd6, %rd2, %rd5;
              st.global.f32 [%rd6], %f13;
            $END:
              ret;
            }
            """;

    /** Counts bytes of n words into 256 bins: a block's own bins in shared memory, then added to the global ones. */
    static final String HISTOGRAM = HEADER + """
            .visible .entry histogram(.param .u64 pin, .param .u64 pbins, .param .u32 pn)
            {
              .reg .pred %p<8>;
              .reg .b32 %r<30>;
              .reg .b64 %rd<10>;
              .shared .align 4 .b8 bins[1024];
              ld.param.u64 %rd1, [pin];
              ld.param.u64 %rd2, [pbins];
              ld.param.u32 %r1, [pn];
              mov.u32 %r2, %tid.x;
              mov.u32 %r3, %ctaid.x;
              mov.u32 %r4, %ntid.x;
              mov.u32 %r5, %nctaid.x;
              mov.u32 %r6, bins;
              shl.b32 %r7, %r2, 2;
              add.s32 %r8, %r6, %r7;
              mov.u32 %r9, 0;
              st.shared.u32 [%r8], %r9;
              bar.sync 0;
              mad.lo.s32 %r10, %r3, %r4, %r2;
              mul.lo.s32 %r11, %r4, %r5;
            $LOOP:
              setp.ge.s32 %p1, %r10, %r1;
              @%p1 bra $MERGE;
              mul.wide.s32 %rd3, %r10, 4;
              add.s64 %rd4, %rd1, %rd3;
              ld.global.u32 %r12, [%rd4];
              and.b32 %r13, %r12, 255;
              shl.b32 %r14, %r13, 2;
              add.s32 %r15, %r6, %r14;
              atom.shared.add.u32 %r16, [%r15], 1;
              bfe.u32 %r17, %r12, 8, 8;
              shl.b32 %r18, %r17, 2;
              add.s32 %r19, %r6, %r18;
              red.shared.add.u32 [%r19], 1;
              add.s32 %r10, %r10, %r11;
              bra.uni $LOOP;
            $MERGE:
              bar.sync 0;
              ld.shared.u32 %r20, [%r8];
              mul.wide.u32 %rd5, %r2, 4;
              add.s64 %rd6, %rd2, %rd5;
              red.global.add.u32 [%rd6], %r20;
              ret;
            }
            """;

    private SampleKernels() {
    }
}

package io.tessera.software.driver;

/** PTX of the tests. */
final class Kernels {
    static final String HEADER = """
            .version 8.0
            .target sm_80
            .address_size 64
            """;

    /** {@code add(int *data, int more)}: each thread adds to its element. */
    static final String ADD = HEADER + """
            .visible .entry add(.param .u64 data, .param .u32 more)
            {
                .reg .b32 %r<8>;
                .reg .b64 %rd<4>;
                ld.param.u64 %rd1, [data];
                ld.param.u32 %r1, [more];
                mov.u32 %r2, %ctaid.x;
                mov.u32 %r3, %ntid.x;
                mov.u32 %r4, %tid.x;
                mad.lo.s32 %r5, %r2, %r3, %r4;
                mul.wide.s32 %rd2, %r5, 4;
                cvta.to.global.u64 %rd1, %rd1;
                add.s64 %rd3, %rd1, %rd2;
                ld.global.u32 %r6, [%rd3];
                add.s32 %r7, %r6, %r1;
                st.global.u32 [%rd3], %r7;
                ret;
            }
            """;

    /** {@code store(int *where, int what)}. */
    static final String STORE = HEADER + """
            .visible .entry store(.param .u64 target, .param .u32 what)
            {
                .reg .b32 %r<2>;
                .reg .b64 %rd<2>;
                ld.param.u64 %rd1, [target];
                ld.param.u32 %r1, [what];
                st.global.u32 [%rd1], %r1;
                ret;
            }
            """;

    /** {@code await(volatile int *word)} ends when the word is not zero. */
    static final String AWAIT = HEADER + """
            .visible .entry await(.param .u64 word)
            {
                .reg .b32 %r<2>;
                .reg .b64 %rd<2>;
                .reg .pred %p<2>;
                ld.param.u64 %rd1, [word];
            again:
                ld.volatile.global.u32 %r1, [%rd1];
                setp.eq.u32 %p1, %r1, 0;
                @%p1 bra again;
                ret;
            }
            """;

    /** {@code stop()} ends with a trap. */
    static final String TRAP = HEADER + """
            .visible .entry stop()
            {
                trap;
                ret;
            }
            """;

    /** A variable of three words, and {@code bump()}, which adds one to the first. */
    static final String VARIABLE = HEADER + """
            .visible .global .align 4 .u32 counter[3] = {7, 8, 9};
            .visible .entry bump()
            {
                .reg .b32 %r<3>;
                ld.global.u32 %r1, [counter];
                add.s32 %r2, %r1, 1;
                st.global.u32 [counter], %r2;
                ret;
            }
            """;

    /** {@code fetch(unsigned *target, texture)}: each thread reads its element of a one-dimensional texture. */
    static final String TEXTURE = HEADER + """
            .visible .entry fetch(.param .u64 target, .param .u64 texture)
            {
                .reg .b32 %r<8>;
                .reg .b64 %rd<5>;
                ld.param.u64 %rd1, [target];
                ld.param.u64 %rd2, [texture];
                mov.u32 %r1, %tid.x;
                tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%rd2, {%r1}];
                mul.wide.u32 %rd3, %r1, 4;
                add.s64 %rd4, %rd1, %rd3;
                st.global.u32 [%rd4], %r2;
                ret;
            }
            """;

    private Kernels() {
    }
}

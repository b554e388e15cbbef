package io.tessera.executor.window;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The kernel that compares a sink with its pattern, one for all tenants of a device. Loaded for the first of them and unloaded after the last. Thread-safe.
 */
final class SinkKernel {
    /** Bytes that a block compares at a time: what is compared is a multiple of it. */
    static final long BLOCK_BYTES = 16_384;
    /** Bytes of the findings: what a comparison reads and writes apart from the compared memory. */
    static final long FINDS_BYTES = 64;
    /** Offset in the findings of a word of 4 bytes: the number of the only client that can have made the writes. */
    static final long OF_ONE = 0;
    /** Offset in the findings of a word of 4 bytes, which becomes 1 if several clients can have made the writes. */
    static final long OF_SEVERAL = 8;
    /** Offset in the findings of the epoch, 8 bytes, which the host writes while comparisons are in progress. */
    static final long EPOCH = 16;
    private static final int THREADS = 256;
    /** Maximum number of blocks. They fill the largest GPUs, which have some 130 multiprocessors with eight of these blocks each. */
    private static final long MOST_BLOCKS = 1_024;
    /** Offset of the driver's room for results where arguments are built. */
    private static final int ARGUMENTS_AT = 256;
    private static final int ARGUMENTS = 7;
    /**
     * A thread compares four pieces of 16 bytes of each block. If one differs, it restores the pattern and only then reads the epoch: any client that
     * can have made the write changed the epoch before. The text is for an architecture older than every supported GPU, and the driver compiles it.
     */
    private static final String TEXT = """
            // tessera_compare_sink
            .version 6.0
            .target sm_50
            .address_size 64
            .visible .entry tessera_compare_sink(.param .u64 memory, .param .u64 bytes, .param .u64 pattern,
                .param .u64 finds, .param .u64 client, .param .u64 epoch, .param .u64 error)
            {
                .reg .pred %p<4>;
                .reg .b32 %r<40>;
                .reg .b64 %rd<13>;
                ld.param.u64 %rd1, [memory];
                ld.param.u64 %rd2, [bytes];
                ld.param.u64 %rd3, [pattern];
                ld.param.u64 %rd4, [finds];
                ld.param.u64 %rd10, [client];
                ld.param.u64 %rd11, [epoch];
                ld.param.u64 %rd9, [error];
                cvt.u32.u64 %r1, %rd3;
                cvt.u32.u64 %r29, %rd10;
                mov.u32 %r2, %ctaid.x;
                mul.wide.u32 %rd5, %r2, 16384;
                mov.u32 %r3, %nctaid.x;
                mul.wide.u32 %rd6, %r3, 16384;
                mov.u32 %r4, %tid.x;
                mul.wide.u32 %rd7, %r4, 16;
                add.u64 %rd7, %rd1, %rd7;
            NEXT:
                setp.ge.u64 %p1, %rd5, %rd2;
                @%p1 bra DONE;
                add.u64 %rd8, %rd7, %rd5;
                ld.global.cs.v4.u32 {%r5, %r6, %r7, %r8}, [%rd8];
                ld.global.cs.v4.u32 {%r9, %r10, %r11, %r12}, [%rd8+4096];
                ld.global.cs.v4.u32 {%r13, %r14, %r15, %r16}, [%rd8+8192];
                ld.global.cs.v4.u32 {%r17, %r18, %r19, %r20}, [%rd8+12288];
                add.u64 %rd5, %rd5, %rd6;
                xor.b32 %r5, %r5, %r1;
                xor.b32 %r6, %r6, %r1;
                xor.b32 %r7, %r7, %r1;
                xor.b32 %r8, %r8, %r1;
                xor.b32 %r9, %r9, %r1;
                xor.b32 %r10, %r10, %r1;
                xor.b32 %r11, %r11, %r1;
                xor.b32 %r12, %r12, %r1;
                xor.b32 %r13, %r13, %r1;
                xor.b32 %r14, %r14, %r1;
                xor.b32 %r15, %r15, %r1;
                xor.b32 %r16, %r16, %r1;
                xor.b32 %r17, %r17, %r1;
                xor.b32 %r18, %r18, %r1;
                xor.b32 %r19, %r19, %r1;
                xor.b32 %r20, %r20, %r1;
                or.b32 %r21, %r5, %r6;
                or.b32 %r22, %r7, %r8;
                or.b32 %r23, %r9, %r10;
                or.b32 %r24, %r11, %r12;
                or.b32 %r25, %r13, %r14;
                or.b32 %r26, %r15, %r16;
                or.b32 %r27, %r17, %r18;
                or.b32 %r28, %r19, %r20;
                or.b32 %r21, %r21, %r22;
                or.b32 %r23, %r23, %r24;
                or.b32 %r25, %r25, %r26;
                or.b32 %r27, %r27, %r28;
                or.b32 %r21, %r21, %r23;
                or.b32 %r25, %r25, %r27;
                or.b32 %r21, %r21, %r25;
                setp.eq.u32 %p2, %r21, 0;
                @%p2 bra NEXT;
                st.global.v4.u32 [%rd8], {%r1, %r1, %r1, %r1};
                st.global.v4.u32 [%rd8+4096], {%r1, %r1, %r1, %r1};
                st.global.v4.u32 [%rd8+8192], {%r1, %r1, %r1, %r1};
                st.global.v4.u32 [%rd8+12288], {%r1, %r1, %r1, %r1};
                membar.sys;
                ld.volatile.global.u64 %rd12, [%rd4+16];
                setp.ne.u64 %p3, %rd12, %rd11;
                @%p3 bra SEVERAL;
                st.volatile.global.u32 [%rd4], %r29;
                setp.eq.u64 %p3, %rd9, 0;
                @%p3 bra NEXT;
                mov.u32 %r30, 700;
                st.volatile.global.u32 [%rd9], %r30;
                bra NEXT;
            SEVERAL:
                mov.u32 %r30, 1;
                st.volatile.global.u32 [%rd4+8], %r30;
                bra NEXT;
            DONE:
                ret;
            }
            """;
    private static final MemorySegment IMAGE = Arena.global().allocateFrom(TEXT);
    private static final MemorySegment NAME = Arena.global().allocateFrom("tessera_compare_sink");

    private volatile long function;

    /** Loads the kernel unless it is loaded. It stays as long as the context; otherwise each new program would wait for its compilation. Returns a CUresult. */
    synchronized int load(DriverCalls driver) {
        if (function != 0) {
            return CudaResult.SUCCESS;
        }
        int result = driver.call(DriverEntry.cuModuleLoadData, driver.out(0), IMAGE.address());
        if (result != CudaResult.SUCCESS) {
            return result;
        }
        long module = driver.outLong(0);
        result = driver.call(DriverEntry.cuModuleGetFunction, driver.out(0), module, NAME.address());
        if (result != CudaResult.SUCCESS) {
            driver.call(DriverEntry.cuModuleUnload, module);
            return result;
        }
        function = driver.outLong(0);
        return CudaResult.SUCCESS;
    }

    /**
     * Parameters of a comparison.
     *
     * @param address      device address, a multiple of 16
     * @param bytes        a multiple of {@link #BLOCK_BYTES}
     * @param pattern      of each word
     * @param findsAddress device address of {@link #FINDS_BYTES} where the kernel reads the epoch and writes its findings
     * @param writer       the client that is named at {@link #OF_ONE} if the epoch there is still the given one: the writes that are found are that client's
     * @param epoch        {@link SinkSuspects#NONE}: {@link #OF_SEVERAL} becomes 1 for any write that is found
     * @param errorAddress of a word that becomes CUDA_ERROR_ILLEGAL_ADDRESS where a writer is named; 0: none
     */
    record Comparison(long address, long bytes, int pattern, long findsAddress, int writer, long epoch, long errorAddress) {
    }

    /**
     * Begins to compare memory with a pattern and to restore the pattern where it differs. The kernel must be loaded.
     *
     * @param stream stream in which this follows earlier work
     * @return a CUresult
     */
    int begin(DriverCalls driver, long stream, Comparison what) {
        MemorySegment room = driver.outMemory().asSlice(ARGUMENTS_AT, 2L * ARGUMENTS * Long.BYTES);
        long[] values = {what.address, what.bytes, Integer.toUnsignedLong(what.pattern), what.findsAddress,
                Integer.toUnsignedLong(what.writer), what.epoch, what.errorAddress};
        for (int i = 0; i < ARGUMENTS; i++) {
            room.setAtIndex(ValueLayout.JAVA_LONG, i, values[i]);
            room.setAtIndex(ValueLayout.JAVA_LONG, ARGUMENTS + i, room.address() + (long) i * Long.BYTES);
        }
        long blocks = Math.min(MOST_BLOCKS, what.bytes / BLOCK_BYTES);
        return driver.call(DriverEntry.cuLaunchKernel, function, blocks, 1, 1, THREADS, 1, 1, 0, stream,
                room.address() + (long) ARGUMENTS * Long.BYTES, 0);
    }
}

package io.tessera.software.kernels;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.software.fault.FaultKind;
import io.tessera.software.fault.KernelFault;
import io.tessera.software.kernels.TestDevice.Kind;
import java.util.Random;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** {@code ldmatrix}, {@code stmatrix}, {@code movmatrix}: which lane gets which element; and where their addresses are wrong. */
@Timeout(180)
class TensorCoreTest {
    private static final long SEED = Long.getLong("tessera.test.seed", 4711);
    private static final int WORDS = 256;

    private static String kernel(String body) {
        return """
                .version 7.8
                .target sm_90
                .address_size 64
                .visible .entry k(.param .u64 in, .param .u64 out)
                {
                  .shared .align 128 .b8 m[1024];
                  .reg .b32 %r<20>; .reg .b64 %d<9>; .reg .pred %p<3>;
                  ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out];
                  mov.u32 %r1, %tid.x; mul.wide.u32 %d3, %r1, 32; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;
                  mov.u32 %r2, m; shl.b32 %r3, %r1, 5; add.u32 %r3, %r3, %r2; // 32 bytes of each lane
                  shl.b32 %r4, %r1, 4; add.u32 %r4, %r4, %r2; // a row of each lane
                  ld.global.v4.b32 {%r10, %r11, %r12, %r13}, [%d1]; ld.global.v4.b32 {%r14, %r15, %r16, %r17}, [%d1+16];
                """ + body + """
                  st.global.v4.b32 [%d2], {%r10, %r11, %r12, %r13}; st.global.v4.b32 [%d2+16], {%r14, %r15, %r16, %r17};
                  ret;
                }
                """;
    }

    private static int[] run(Kind kind, String body, int[] words) {
        try (TestDevice device = TestDevice.ofText(kind, kernel(body))) {
            long out = device.zeros(WORDS);
            device.launch("k", 1, 32, device.ints(words), out);
            return device.ints(out, WORDS);
        }
    }

    private static int[] words() {
        return new Random(SEED).ints(WORDS).toArray();
    }

    /** Element of 16 bits of matrices that lie one after the other, rows of 16 bytes. */
    private static int half(int[] words, int matrix, int row, int column) {
        return words[matrix * 32 + row * 4 + column / 2] >>> column % 2 * 16 & 0xFFFF;
    }

    @ParameterizedTest
    @EnumSource
    void loadedRowsOrColumns(Kind kind) {
        int[] words = words();
        for (boolean transposed : new boolean[] {false, true}) {
            for (int count : new int[] {1, 2, 4}) {
                String registers = count == 1 ? "%r10" : count == 2 ? "%r10, %r11" : "%r10, %r11, %r12, %r13";
                int[] found = run(kind, "st.shared.v4.b32 [%r3], {%r10, %r11, %r12, %r13};"
                        + "st.shared.v4.b32 [%r3+16], {%r14, %r15, %r16, %r17}; bar.sync 0;\nldmatrix.sync.aligned.m8n8.x" + count
                        + (transposed ? ".trans" : "") + ".shared.b16 {" + registers + "}, [%r4];\n", words);
                for (int lane = 0; lane < 32; lane++) {
                    for (int matrix = 0; matrix < count; matrix++) {
                        int row = lane / 4;
                        int column = lane % 4 * 2;
                        int expected = transposed ? half(words, matrix, column, row) | half(words, matrix, column + 1, row) << 16
                                : half(words, matrix, row, column) | half(words, matrix, row, column + 1) << 16;
                        assertEquals(expected, found[lane * 8 + matrix], count + " " + transposed + " lane " + lane);
                    }
                }
            }
        }
    }

    /** A matrix that is stored and loaded again the same way is unchanged, generic addresses among them; transposed once, columns. */
    @ParameterizedTest
    @EnumSource
    void storedAndMoved(Kind kind) {
        int[] words = words();
        String generic = "cvt.u64.u32 %d4, %r4; cvta.shared.u64 %d4, %d4;\n";
        for (String way : new String[] {"", ".trans"}) {
            int[] found = run(kind, generic + "stmatrix.sync.aligned.m8n8.x4" + way + ".shared.b16 [%r4], {%r14, %r15, %r16, %r17};\n"
                    + "ldmatrix.sync.aligned.m8n8.x4" + way + ".b16 {%r10, %r11, %r12, %r13}, [%d4];\n", words);
            for (int lane = 0; lane < 32; lane++) {
                for (int i = 0; i < 4; i++) {
                    assertEquals(words[lane * 8 + 4 + i], found[lane * 8 + i], way + " lane " + lane);
                }
            }
        }
        int[] moved = run(kind, "movmatrix.sync.aligned.m8n8.trans.b16 %r11, %r10;\n"
                + "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r4], {%r10};\n"
                + "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r12}, [%r4];\n", words);
        for (int lane = 0; lane < 32; lane++) {
            int column = lane / 4;
            int row = lane % 4 * 2;
            int upper = words[(row * 4 + column / 2) * 8] >>> column % 2 * 16 & 0xFFFF;
            int lower = words[((row + 1) * 4 + column / 2) * 8] >>> column % 2 * 16 & 0xFFFF;
            assertEquals(upper | lower << 16, moved[lane * 8 + 1], "lane " + lane);
            assertEquals(moved[lane * 8 + 1], moved[lane * 8 + 2], "lane " + lane);
        }
    }

    /** The thread that is named is the one whose address is wrong. */
    @ParameterizedTest
    @EnumSource
    void wrongAddressesFault(Kind kind) {
        String seventh = "setp.eq.u32 %p1, %r1, 7; selp.u32 %r5, ";
        KernelFault outside = assertThrows(KernelFault.class, () -> run(kind, seventh + "4096, %r4, %p1;\n"
                + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r5];\n", words()));
        assertEquals(FaultKind.ILLEGAL_ADDRESS, outside.kind());
        assertTrue(outside.getMessage().contains("thread (7,0,0)"), outside.getMessage());
        KernelFault crooked = assertThrows(KernelFault.class, () -> run(kind, seventh + "8, %r4, %p1;\n"
                + "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r5], {%r10};\n", words()));
        assertEquals(FaultKind.MISALIGNED_ADDRESS, crooked.kind());
    }

    /** Votes and shuffles without {@code .sync}: those that are in the same branch take part. */
    @ParameterizedTest
    @EnumSource
    void oldVotesAndShufflesCountWhoIsHere(Kind kind) {
        int[] found = run(kind, """
                  and.b32 %r6, %r1, 3; setp.lt.u32 %p1, %r1, 20; setp.eq.u32 %p2, %r6, 1;
                  @%p1 bra low;
                  vote.ballot.b32 %r10, %p2; vote.any.pred %p2, %p2; selp.u32 %r11, 1, 0, %p2; mov.u32 %r12, 0;
                  bra end;
                low:
                  vote.ballot.b32 %r10, !%p2; vote.all.pred %p2, %p2; selp.u32 %r11, 1, 0, %p2;
                  shfl.bfly.b32 %r12, %r1, 1, 31;
                end:
                """, words());
        for (int lane = 0; lane < 32; lane++) {
            boolean low = lane < 20;
            assertArrayEquals(low ? new int[] {0xDDDDD, 0, lane ^ 1} : new int[] {0x22200000, 1, 0},
                    new int[] {found[lane * 8], found[lane * 8 + 1], found[lane * 8 + 2]}, "lane " + lane);
        }
    }

    /** All sizes of copies, with fewer bytes at the source, with none, and where a predicate says to ignore it. */
    @ParameterizedTest
    @EnumSource
    void copiesOfEverySizeFillWithZeros(Kind kind) {
        int[] words = words();
        int[] found = run(kind, """
                  setp.lt.u32 %p1, %r1, 16; and.b32 %r5, %r1, 15;
                  st.shared.v4.b32 [%r3], {%r1, %r1, %r1, %r1};
                  cp.async.cg.shared.global.L2::128B [%r3], [%d1], 16, %r5;
                  cp.async.ca.shared.global [%r3+16], [%d1+16], 8;
                  cp.async.ca.shared.global [%r3+24], [%d1+24], 4, 2;
                  cp.async.ca.shared.global [%r3+28], [%d1+28], 4, %p1;
                  cp.async.commit_group; cp.async.wait_group 0; cp.async.wait_all; bar.sync 0;
                  ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [%r3]; ld.shared.v4.b32 {%r14, %r15, %r16, %r17}, [%r3+16];
                """, words);
        for (int lane = 0; lane < 32; lane++) {
            for (int i = 0; i < 32; i++) {
                int word = words[lane * 8 + i / 4] >>> i % 4 * 8 & 0xFF;
                boolean taken = i < 16 ? i < (lane & 15) : i < 26 || i >= 28 && lane >= 16;
                assertEquals(taken ? word : 0, found[lane * 8 + i / 4] >>> i % 4 * 8 & 0xFF, "byte " + i + " of lane " + lane);
            }
        }
    }
}

package io.tessera.software.kernels;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.tessera.software.kernels.TestDevice.Kind;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Loads and stores of vectors: their elements, and that others never see one half of a store. */
@Timeout(180)
class VectorAccessTest {
    private static final String HEADER = ".version 8.0\n.target sm_90\n.address_size 64\n";
    /** Even blocks store equal elements; odd ones count pairs of different elements into their own word. */
    private static final String RACE = HEADER + """
            .visible .entry race(.param .u64 cell, .param .u64 torn, .param .u32 rounds)
            {
              .reg .pred %p<4>;
              .reg .b32 %r<20>;
              .reg .b64 %d<8>;
              ld.param.u64 %d0, [cell];
              ld.param.u64 %d1, [torn];
              ld.param.u32 %r0, [rounds];
              mov.u32 %r1, %ctaid.x;
              mul.wide.u32 %d2, %r1, 4;
              add.u64 %d1, %d1, %d2;
              and.b32 %r2, %r1, 1;
              setp.ne.u32 %p0, %r2, 0;
              mov.u32 %r3, 0;
              mov.u32 %r4, 0;
            LOOP:
              @%p0 bra LOOK;
              mov.b32 %r5, %r3;
              mov.b64 %d5, {%r3, %r3};
              mov.b64 %d6, %d5;
              st.relaxed.gpu.VECTOR [%d0], {STORED};
              bra NEXT;
            LOOK:
              ld.relaxed.gpu.VECTOR {LOADED}, [%d0];
              setp.ne.WORD %p1, FIRST, LAST;
              selp.u32 %r7, 1, 0, %p1;
              add.u32 %r4, %r4, %r7;
            NEXT:
              add.u32 %r3, %r3, 1;
              setp.lt.u32 %p2, %r3, %r0;
              @%p2 bra LOOP;
              st.global.u32 [%d1], %r4;
              ret;
            }
            """;

    private static String race(String vector) {
        return switch (vector) {
            case "v2.u32" -> fill(vector, "%r3, %r5", "%r8, %r9", "u32", "%r8", "%r9");
            case "v4.u32" -> fill(vector, "%r3, %r5, %r3, %r5", "%r8, %r9, %r10, %r11", "u32", "%r8", "%r11");
            default -> fill(vector, "%d5, %d6", "%d3, %d4", "u64", "%d3", "%d4");
        };
    }

    private static String fill(String vector, String stored, String loaded, String word, String first, String last) {
        return RACE.replace("VECTOR", vector).replace("STORED", stored).replace("LOADED", loaded)
                .replace("WORD", word).replace("FIRST", first).replace("LAST", last);
    }

    @ParameterizedTest
    @CsvSource({"COMPILED, v2.u32, 2000000", "COMPILED, v4.u32, 100000", "COMPILED, v2.u64, 100000",
            "INTERPRETED, v2.u32, 100000", "INTERPRETED, v4.u32, 50000", "INTERPRETED, v2.u64, 50000"})
    void storesAreNotTorn(Kind kind, String vector, int rounds) {
        try (TestDevice device = TestDevice.ofText(kind, race(vector))) {
            long torn = device.zeros(4);
            device.launch("race", 4, 1, device.zeros(4), torn, rounds);
            assertArrayEquals(new int[4], device.ints(torn, 4));
        }
    }

    @ParameterizedTest
    @EnumSource
    void elementsKeepTheirPlacesAndSigns(Kind kind) {
        String text = HEADER + """
                .visible .entry spread(.param .u64 in, .param .u64 out)
                {
                  .reg .b16 %h<8>;
                  .reg .b32 %r<8>;
                  .reg .b64 %d<4>;
                  ld.param.u64 %d0, [in];
                  ld.param.u64 %d1, [out];
                  ld.global.v4.s16 {%r0, %r1, %r2, %r3}, [%d0];
                  st.global.v4.u32 [%d1], {%r0, %r1, %r2, %r3};
                  ld.global.v2.u16 {%r4, %r5}, [%d0+4];
                  st.global.v2.u32 [%d1+16], {%r4, %r5};
                  ld.global.v4.s8 {%r0, %r1, %r2, %r3}, [%d0];
                  st.global.v4.u8 [%d1+24], {%r3, %r2, %r1, %r0};
                  ld.global.v2.b16 {%h0, %h1}, [%d0];
                  st.global.v2.b16 [%d1+28], {%h1, %h0};
                  ld.global.v2.u8 {%r4, %r5}, [%d0+2];
                  st.global.v2.u8 [%d1+32], {%r5, %r4};
                  ret;
                }
                """;
        try (TestDevice device = TestDevice.ofText(kind, text)) {
            long out = device.zeros(9);
            device.launch("spread", 1, 1, device.ints(new int[] {0x8001FFFE, 0x7FFF8000}), out);
            int[] expected = {-2, (short) 0x8001, (short) 0x8000, 0x7FFF, 0x8000, 0x7FFF, 0xFEFF0180, 0xFFFE8001,
                    0x0180};
            assertArrayEquals(expected, device.ints(out, 9));
        }
    }
}

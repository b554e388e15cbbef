package io.tessera.guardian.verify.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.Reserved;
import io.tessera.guardian.verify.UnverifiedException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Numbers and addresses whose low bits are cleared, up to all but the highest. */
class ClearedBitsTest {
    private static final int LANE_BITS = 5;
    /** Beyond, a mask is no number that the verifier follows. */
    private static final int FOLLOWED = 61;

    private static Map<String, UnverifiedException> rejected(String statements) throws UnverifiedException {
        String text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .const .align 16 .b64 __tessera_window[8];\n.visible .entry k(.param .u64 p)\n{\n"
                + ".reg .b32 %r<9>; .reg .b64 %rd<9>;\n.local .align 8 .b8 own[8];\n" + statements + "ret;\n}\n";
        return FenceVerifier.verify(GridLooks.bytes(text), Mode.MASK, false).rejected();
    }

    /** A number and up to 31 more without its low bits, less what is expected of that, added to the address of a variable. */
    private static Map<String, UnverifiedException> number(long number, long mask, long left) throws UnverifiedException {
        return rejected("""
                mov.u32 %r1, %laneid;
                cvt.u64.u32 %rd1, %r1;
                add.u64 %rd1, %rd1, NUMBER;
                and.b64 %rd2, %rd1, MASK;
                mov.u64 %rd3, own;
                sub.s64 %rd4, %rd2, LEFT;
                add.s64 %rd5, %rd3, %rd4;
                st.local.u8 [%rd5], 1;
                """.replace("NUMBER", Long.toString(number)).replace("MASK", Long.toString(mask)).replace("LEFT", Long.toString(left)));
    }

    @Test
    void ofNumbers() throws Exception {
        for (int bit = LANE_BITS; bit < 60; bit++) {
            for (int cleared = LANE_BITS; cleared <= FOLLOWED; cleared++) {
                long left = 1L << bit & -1L << cleared;
                String what = "2^" + bit + " and -2^" + cleared;
                assertEquals(Map.of(), number(1L << bit, -1L << cleared, left), what);
                assertTrue(number(1L << bit, -1L << cleared, (1L << bit) - left).containsKey("k"), what + " is not 2^" + bit + " less that");
            }
        }
    }

    /** An address in the window, which is aligned to 4 GiB: beyond, what is left may lie before its start. */
    private static Map<String, UnverifiedException> window(String mask, String distance) throws UnverifiedException {
        return rejected("""
                ld.param.u64 %rd1, [p];
                ld.const.v2.u32 {%r1, %r2}, [__tessera_window];
                mov.b64 {%r3, %r4}, %rd1;
                and.b32 %r4, %r4, %r2;
                or.b32 %r4, %r4, %r1;
                mov.b64 %rd2, {%r3, %r4};
                and.b64 %rd3, %rd2, MASK;
                st.global.u8 [%rd3-DISTANCE], 1;
                """.replace("MASK", mask).replace("DISTANCE", distance));
    }

    @Test
    void ofAddressesInTheWindow() throws Exception {
        assertEquals(Map.of(), window("-4096", "2147483647"));
        for (int bit = 0; bit < 63; bit++) {
            // A cleared address at the window's start may lie this far before it.
            long before = bit <= 32 ? 0 : (1L << bit) - 1;
            boolean near = before + Integer.MAX_VALUE < Reserved.GUARD_BYTES;
            assertEquals(near, window(Long.toString(-1L << bit), "2147483647").isEmpty(), "-2^" + bit);
        }
    }
}

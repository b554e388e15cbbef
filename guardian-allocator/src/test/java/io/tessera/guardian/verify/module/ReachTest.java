package io.tessera.guardian.verify.module;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.Reserved;
import io.tessera.guardian.verify.UnverifiedException;
import org.junit.jupiter.api.Test;

/**
 * Tests how far from a fenced address an access may be: up to the last byte of the guard bands, and up to the last byte that a limit leaves of a
 * variable.
 */
class ReachTest {
    private static boolean isAccepted(String statements) throws UnverifiedException {
        String text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .const .align 16 .b64 __tessera_window[8];\n.visible .entry k(.param .u64 p)\n{\n"
                + ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;\n.shared .align 16 .b8 tile[64]; .shared .align 16 .b8 other[128];\n"
                + statements
                + "ret;\n}\n";
        return FenceVerifier.verify(GridLooks.bytes(text), Mode.MASK, false).accepted().contains("k");
    }

    private static boolean reaches(long distance, int offset, String type) throws UnverifiedException {
        return isAccepted("""
                ld.param.u64 %rd1, [p];
                ld.const.v2.u32 {%r1, %r2}, [__tessera_window];
                mov.b64 {%r3, %r4}, %rd1;
                and.b32 %r4, %r4, %r2;
                or.b32 %r4, %r4, %r1;
                mov.b64 %rd2, {%r3, %r4};
                and.b64 %rd2, %rd2, -8;
                add.s64 %rd3, %rd2, DISTANCE;
                ld.global.TYPE %rd4, [%rd3+OFFSET];
                """.replace("DISTANCE", Long.toString(distance)).replace("+OFFSET", (offset < 0 ? "" : "+") + offset).replace("TYPE", type));
    }

    @Test
    void guardBandsEndWithTheirLastByte() throws UnverifiedException {
        long guard = Reserved.GUARD_BYTES;
        for (int offset : new int[] {-8, 0, 8}) {
            assertEquals(true, reaches(-guard - offset, offset, "u64"));
            assertEquals(false, reaches(-guard - 8 - offset, offset, "u64"));
            assertEquals(true, reaches(guard - 8 - offset, offset, "u64"));
            assertEquals(false, reaches(guard - offset, offset, "u64"));
        }
        assertEquals(false, reaches(-guard - 1, 0, "u8"));
        assertEquals(true, reaches(guard - 1, 0, "u8"));
        assertEquals(false, reaches(guard, 0, "u8"));
    }

    /** An address that may lie before its variable, limited, and what is done with it then. */
    private static boolean isLimited(String minimum, String access) throws UnverifiedException {
        return isAccepted("""
                mov.u32 %r1, %tid.x;
                add.s32 %r2, %r1, -9;
                shl.b32 %r3, %r2, 2;
                mov.u32 %r4, tile;
                add.s32 %r5, %r4, %r3;
                mov.u32 %r7, other;
                """ + minimum + access);
    }

    @Test
    void whatIsNotAboveALimitIsInSharedMemory() throws UnverifiedException {
        String last = "mov.u32 %r6, tile+60; min.u32 %r8, %r5, %r6;\n";
        assertEquals(true, isLimited(last, "ld.shared.u32 %r1, [%r8];\n"));
        assertEquals(true, isLimited(last.replace("60", "56"), "ld.shared.u32 %r1, [%r8+4];\n"));
        assertEquals(true, isLimited(last.replace("60", "56"), "add.u32 %r8, %r8, 4; ld.shared.u32 %r1, [%r8];\n"));
        assertEquals(false, isLimited("mov.u32 %r8, %r5;\n", "ld.shared.u32 %r1, [%r8];\n"), "without a limit");
        assertEquals(false, isLimited(last.replace("60", "64"), "ld.shared.u32 %r1, [%r8];\n"), "behind the variable");
        assertEquals(false, isLimited(last, "ld.shared.u64 %rd1, [%r8];\n"), "of more bytes");
        assertEquals(false, isLimited(last, "ld.shared.u32 %r1, [%r8+4];\n"), "further up");
        assertEquals(false, isLimited(last, "add.u32 %r8, %r8, 4; ld.shared.u32 %r1, [%r8];\n"), "further up by a sum");
        assertEquals(false, isLimited(last, "ld.shared.u32 %r1, [%r8-4];\n"), "before all memory, where it is the first byte");
        assertEquals(false, isLimited(last, "add.s32 %r8, %r8, -4; ld.shared.u32 %r1, [%r8];\n"), "the same by a sum");
        assertEquals(false, isLimited(last, "sub.u32 %r8, %r8, %r4; add.u32 %r8, %r8, %r7; ld.shared.u32 %r1, [%r8];\n"), "as far from another");
        assertEquals(false, isLimited(last.replace("tile+60", "tile-4"), "ld.shared.u32 %r1, [%r8];\n"), "a limit that may be the highest number");
        assertEquals(false, isLimited(last.replace("min.u32", "min.s32"), "ld.shared.u32 %r1, [%r8];\n"), "the lesser of signed numbers");
        assertEquals(false, isLimited(last.replace("min.u32", "max.u32"), "ld.shared.u32 %r1, [%r8];\n"), "the greater");
        assertEquals(false, isLimited(last + "setp.eq.u32 %p1, %r1, 1; @%p1 mov.u32 %r8, %r5;\n", "ld.shared.u32 %r1, [%r8];\n"), "sometimes");
    }
}

package io.tessera.guardian.fence.module;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.ConstantPatch;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.HoistedVariable;
import io.tessera.guardian.fence.HoistedVariable.Relocation;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.text.ReportArea;
import io.tessera.guardian.ptx.Linkage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Variables that move into the window, and what the loader needs to know of them. */
class VariablesTest {
    private static HoistedVariable variable(FencedModule fenced, String name) {
        return fenced.variables().stream().filter(v -> v.name().equals(name)).findFirst().orElseThrow();
    }

    @Test
    void bytesAndRelocationsAreTold() throws Exception {
        FencedModule fenced = Fences.plain(Fences.read("variables.ptx"), FenceMode.MASK);
        assertArrayEquals(new byte[] {7}, variable(fenced, "counter").initial());
        HoistedVariable bytes = variable(fenced, "bytes");
        assertTrue(bytes.managed() && bytes.sizeBytes() == 16 && bytes.alignmentBytes() == 8);
        assertEquals(List.of(new Relocation(1, 1, 0, "counter", 0), new Relocation(2, 1, 8, "counter", 4)),
                bytes.relocations());
        assertEquals(0x12, bytes.relocations().get(1).value(0x11FC) & 0xFF);
        assertEquals(Linkage.EXTERN, variable(fenced, "elsewhere").linkage());
        HoistedVariable pointers = variable(fenced, "pointers");
        assertEquals(List.of(new Relocation(0, 8, 0, "counter", 4), new Relocation(8, 8, 0, "bytes", 0)),
                pointers.relocations());
        assertEquals(List.of(new ConstantPatch("constants", new Relocation(0, 8, 0, "pointers", 0))), fenced.patches());
        // A function's number is the same wherever it stands.
        assertTrue(ByteBuffer.wrap(pointers.initial()).order(ByteOrder.LITTLE_ENDIAN).getLong(16) != 0);
    }

    @Test
    void vectorsAndNestedArraysLieInOrder() throws Exception {
        byte[] initial = variable(Fences.plain(Fences.read("variables.ptx"), FenceMode.MASK), "vectors").initial();
        ByteBuffer values = ByteBuffer.allocate(32).order(ByteOrder.LITTLE_ENDIAN).put(initial);
        float[] expected = {1, 2, 3, 0, 1.5f, -2, 0, 0};
        for (int i = 0; i < expected.length; i++) {
            assertEquals(expected[i], values.getFloat(4 * i));
        }
    }

    @Test
    void constantsMoveWhereTheyAreUsedByGenericAddress() throws Exception {
        String text = ".version 8.0\n.target sm_90\n.address_size 64\n.const .align 4 .b32 c[4] = {5};\n"
                + ".entry k() { .reg .b32 %r<2>; .reg .b64 %d<3>; mov.u64 %d1, c; cvta.const.u64 %d2, %d1; "
                + "ld.u32 %r1, [%d2]; ld.const.u32 %r1, [c+4]; ret; }\n";
        FencedModule fenced = Fences.plain(text, FenceMode.MASK);
        assertTrue(variable(fenced, "c").constantSpace());
        assertTrue(!fenced.ptx().contains("cvta.const") && fenced.ptx().contains("ld.global.u32"));
    }

    @Test
    void windowsAreCheckedAndWritten() {
        long base = 0x2100_0000_0000L;
        ByteBuffer mask = ByteBuffer.wrap(new WindowConstants(FenceMode.MASK, base, 1L << 36, 64, 4, 0).bytes())
                .order(ByteOrder.LITTLE_ENDIAN);
        assertEquals(0x2100, mask.getInt(0));
        assertEquals(15, mask.getInt(4));
        ByteBuffer modulo = ByteBuffer.wrap(new WindowConstants(FenceMode.MODULO, base, 3L << 32, 64, 4, 0).bytes())
                .order(ByteOrder.LITTLE_ENDIAN);
        assertEquals(3, modulo.getInt(4));
        assertEquals(0x5555_5555, modulo.getInt(24));
        assertThrows(IllegalArgumentException.class, () -> new WindowConstants(FenceMode.MASK, base, 3L << 32, 64, 4, 0));
        assertThrows(IllegalArgumentException.class, () -> new WindowConstants(FenceMode.MASK, base, 1L << 31, 64, 4, 0));
        assertThrows(IllegalArgumentException.class,
                () -> new WindowConstants(FenceMode.CHECK, base + (1L << 32), 1L << 33, 64, 4, 0));
    }

    @Test
    void recordsAreRead() {
        ByteBuffer area = ByteBuffer.allocate(ReportArea.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        area.putInt(0, 2);
        area.putInt(64, ReportArea.Kind.TRAP.code()).putInt(68, 3).putInt(72, 17).putInt(76, 5).putLong(80, 99L);
        for (int i = 0; i < 6; i++) {
            area.putInt(88 + 4 * i, i);
        }
        assertEquals(List.of(new ReportArea.Violation(ReportArea.Kind.TRAP, 3, 17, 5, 99, List.of(0, 1, 2),
                List.of(3, 4, 5))), ReportArea.violations(area));
    }
}

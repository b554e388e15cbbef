package io.tessera.guardian.fence.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.call.PrintFormat;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The text printed in place of a format that would read or write memory beyond the kernel's. */
class PrintTest {
    private static String bytes(String text) {
        return (text + "\0").chars().mapToObj(Integer::toString).collect(Collectors.joining(", "));
    }

    private static String fenced(String from, String to) throws Exception {
        String flow = Fences.read("flow.ptx");
        assertTrue(flow.contains(from), from);
        FencedModule module = Fences.plain(flow.replace(from, to), FenceMode.MASK);
        assertTrue(module.refused().isEmpty(), module.refused().toString());
        return module.ptx();
    }

    @Test
    void argumentsLieAsCompilersPutThem() {
        assertEquals(new PrintFormat(32, 8, List.of(16L)), PrintFormat.of("line %d of %d: %5.2f %s %c %x\n"));
        assertEquals(new PrintFormat(24, 8, List.of(8L, 16L)), PrintFormat.of("%*s%s"));
        assertEquals(new PrintFormat(0, 1, List.of()), PrintFormat.of("100 %%"));
        assertNull(PrintFormat.of("%n"));
        assertNull(PrintFormat.of("%ls"));
        assertNull(PrintFormat.of("%"));
        assertEquals(0, PrintFormat.of(PrintFormat.literal("%n%s%%")).bytes());
    }

    @Test
    void stringsAreReplacedByCopiesRightBeforeTheCall() throws Exception {
        String flow = Fences.read("strings.ptx");
        String text = Fences.plain(flow, FenceMode.MASK).ptx();
        assertTrue(text.contains(bytes("(string)")), text);
        int call = text.indexOf("), vprintf");
        String before = text.substring(0, text.lastIndexOf('\n', call)).stripTrailing();
        assertTrue(before.substring(before.lastIndexOf('\n')).strip().matches("st\\.local\\.u64 \t\\[\\$v\\d+\\+8], .*"), before);
        assertTrue(text.contains("ld.local.u64"), text);
    }

    @Test
    void formatsThatAreNotUnderstoodArePrintedAsTheyStand() throws Exception {
        String text = fenced("{37, 100, 32, 37, 102, 10, 0}", "{37, 110, 32, 37, 102, 10, 0}");
        assertTrue(text.contains(bytes("%%n %%f\n")), text);
    }

    @Test
    void argumentsOutsideTheFrameAreNotRead() throws Exception {
        assertTrue(fenced("frame[16]", "frame[8]").contains(bytes("%%d %%f\n")));
        assertTrue(fenced(".align 8 .b8 frame", ".align 4 .b8 frame").contains(bytes("%%d %%f\n")));
    }

    @Test
    void formatsThatAreNoConstantsAreNotRead() throws Exception {
        String text = fenced("st.param.b64 [f], %d7;", "st.param.b64 [f], %d1;");
        assertTrue(text.contains(bytes("(a format that is not known)\n")));
        assertFalse(text.contains(bytes("%d %f\n")));
    }
}

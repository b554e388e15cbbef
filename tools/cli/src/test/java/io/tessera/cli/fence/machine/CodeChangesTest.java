package io.tessera.cli.fence.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.cli.text.Style;
import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.CubinBuilder;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.container.CodeReader;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.container.CubinSection;
import io.tessera.guardian.machine.fence.CubinFencer;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What of a kernel is printed, and that it is never all of it. */
class CodeChangesTest {
    /** A load and a store among instructions that stay as they are, and a loop. */
    private static CodeWords kernel() {
        CodeWords code = new CodeWords();
        for (int i = 0; i < 10; i++) {
            code.sum(6, 7, 8);
        }
        code.load(0, 2);
        for (int i = 0; i < 10; i++) {
            code.sum(6, 7, 8);
        }
        return code.store(4, 0).compare(0, 0, 5).branch(3).under(0).exit();
    }

    private static CodeChanges changes(CodeWords code, String window) throws MachineCodeException {
        byte[] cubin = CubinBuilder.of("kernel", code).build();
        byte[] fenced = CubinFencer.fence(cubin, MachineFenceWindow.of(window).orElseThrow()).bytes();
        return CodeChanges.between(words(cubin), words(fenced));
    }

    private static long[] words(byte[] cubin) throws MachineCodeException {
        return CodeReader.words(Cubin.read(cubin).section(CubinSection.CODE + "kernel"));
    }

    private static List<String> words(CodeChanges changes) {
        return changes.lines(Style.PLAIN).stream().map(line -> line.replaceAll(" [0-9a-f]{16} [0-9a-f]{16}$", "").strip().replaceAll(" +", " "))
                .toList();
    }

    @Test
    void fencesAreShownWithTwoInstructionsAround() throws MachineCodeException {
        CodeChanges changes = changes(kernel(), "128G");
        assertEquals(3, changes.inserted());
        assertEquals(0, changes.changed());
        assertEquals(1, changes.moved(), "the branch goes where its target is now");
        assertEquals(List.of("BEFORE AFTER INSTRUCTION WORDS (LOW, HIGH)", "+ 0x0 MOV R27, 0x2020", "0x0 0x10 IADD3 R6, R7, R8, RZ",
                "0x10 0x20 IADD3 R6, R7, R8, RZ", "...", "0x80 0x90 IADD3 R6, R7, R8, RZ", "0x90 0xa0 IADD3 R6, R7, R8, RZ",
                "+ 0xb0 LOP3 R3, R3, 0x1f, R27", "0xa0 0xc0 LDG R0, [R2.64+URZ]", "0xb0 0xd0 IADD3 R6, R7, R8, RZ", "...",
                "0x100 0x120 IADD3 R6, R7, R8, RZ", "0x110 0x130 IADD3 R6, R7, R8, RZ", "+ 0x140 LOP3 R5, R5, 0x1f, R27",
                "0x120 0x150 IADD3 R6, R7, R8, RZ", "0x130 0x160 IADD3 R6, R7, R8, RZ"), words(changes),
                "the fence comes so early that its access does not wait for it");
    }

    @Test
    void anAccessThatArithmeticPassesIsFoundBehindIt() throws MachineCodeException {
        CodeWords code = new CodeWords().store(4, 0).stalling(1);
        for (int i = 0; i < 50; i++) {
            code.product(20, 21, 22, 23).stalling(1);
        }
        CodeChanges changes = changes(code.exit(), "128G");
        assertEquals(2, changes.inserted());
        assertEquals(0, changes.changed());
        assertTrue(words(changes).stream().anyMatch(line -> line.startsWith("0x10 0x20 ")),
                "what was behind the access is directly behind its fence");
    }

    @Test
    void accessesThatAreChangedAreShownBeforeAndAfter() throws MachineCodeException {
        CodeChanges changes = changes(kernel(), "4G");
        assertEquals(3, changes.inserted());
        assertEquals(2, changes.changed());
        List<String> lines = words(changes);
        assertTrue(lines.contains("- 0xa0 LDG R0, [R2.64+URZ]"), lines.toString());
        assertTrue(lines.contains("+ 0xd0 LDG R0, [R2.U32+UR58]"), lines.toString());
        assertTrue(lines.contains("+ 0x180 STG [R4.U32+UR58], R0"), lines.toString());
        assertFalse(lines.stream().anyMatch(line -> line.matches("[-+].*BRA.*")), "it is only moved");
    }

    @Test
    void aDescriptorThatIsTakenAwayIsAChange() throws MachineCodeException {
        CodeWords code = new CodeWords().loadByDescriptor(0, 2, 4);
        for (int i = 0; i < 10; i++) {
            code.sum(6, 7, 8);
        }
        CodeChanges changes = changes(code.exit(), "128G");
        assertEquals(1, changes.changed());
        List<String> lines = words(changes);
        assertTrue(lines.contains("- 0x0 LDG R0, desc[UR4][R2.64]"), lines.toString());
        assertTrue(lines.stream().anyMatch(line -> line.matches("\\+ 0x.* LDG R0, \\[R2.64\\+URZ\\]")), lines.toString());
    }

    @Test
    void aKernelIsNeverPrintedInFull() throws MachineCodeException {
        CodeWords code = new CodeWords();
        for (int i = 0; i < 20; i++) {
            code.load(0, 2 * i);
        }
        for (String window : List.of("4G", "128G")) {
            List<String> lines = words(changes(code.exit(), window));
            assertEquals("the rest is left out: no more than half of a kernel is printed", lines.getLast());
            long originals = lines.stream().filter(line -> line.matches("(- )?0x.*")).count();
            assertTrue(originals > 0 && originals <= code.count() / 2, lines.toString());
        }
    }

    @Test
    void codeThatIsNoFencedFormOfTheOtherIsNotCompared() {
        long[] before = kernel().words();
        assertThrows(MachineCodeException.class, () -> CodeChanges.between(before, Arrays.copyOf(before, before.length - 2)));
        long[] longer = Arrays.copyOf(before, before.length + 2);
        longer[before.length] = CodeWords.EXIT;
        assertThrows(MachineCodeException.class, () -> CodeChanges.between(before, longer));
    }
}

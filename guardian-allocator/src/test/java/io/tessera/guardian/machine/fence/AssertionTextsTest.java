package io.tessera.guardian.machine.fence;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.machine.FencedCubin;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.NvccCubins;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.verify.CubinVerifier;
import io.tessera.guardian.machine.verify.ReportWords;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Failed assertions in machine code say their file, line, function and condition. Needs nvcc. */
@Tag("nvcc")
class AssertionTextsTest {
    private static final MachineFence FENCE = MachineFence.of(1L << 40, 1L << 40).reporting(0x7f00_1234_0a00L, 5);
    private static final int WITH_ADDEND = 24;

    @TempDir
    static Path folder;

    @BeforeAll
    static void findCompiler() {
        NvccCubins.require();
    }

    private static byte[] compile(String architecture) throws Exception {
        return NvccCubins.compile(folder, "machine/assertions", architecture);
    }

    /** The texts that the reports of fenced code name; an empty one for a report without. */
    private static TreeSet<String> said(FencedCubin fenced) throws Exception {
        ByteBuffer words = ByteBuffer.wrap(fenced.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        TreeSet<String> said = new TreeSet<>();
        for (int place : ReportWords.find(fenced.bytes(), FENCE)) {
            int word = InstructionWord.immediate(words.getLong(place + 2 * InstructionWord.BYTES));
            assertTrue(MachineFence.isAssertion(word));
            int text = MachineFence.textOf(word);
            said.add(text == 0 ? "" : fenced.assertions().get(text - 1).replaceAll("^.*/(?=assertions.cu)", ""));
        }
        return said;
    }

    @ParameterizedTest
    @ValueSource(strings = {"sm_80", "sm_86", "sm_89", "sm_90"})
    void aReportNamesFileLineFunctionAndCondition(String architecture) throws Exception {
        FencedCubin fenced = CubinFencer.fence(compile(architecture), FENCE);
        assertEquals(Map.of(), CubinVerifier.verify(fenced.bytes(), FENCE));
        assertEquals(new TreeSet<>(List.of("assertions.cu:7: void bounds(int *, int): i < count && \"index out of bounds\"",
                "assertions.cu:9: void bounds(int *, int): data[i + 1] != 3", "assertions.cu:15: void positive(int *): data[3] > 0",
                "assertions.cu:21: void calls(int *): data[9]")), said(fenced));
        assertEquals(fenced.assertions(), CubinFencer.fence(compile(architecture), FENCE).assertions());
    }

    /** The text ends in the log of an executor and on terminals. */
    @Test
    void aTextIsPrintable() throws Exception {
        byte[] bytes = compile("sm_90");
        int at = new String(bytes, StandardCharsets.ISO_8859_1).indexOf("index out of bounds");
        System.arraycopy("\33[2J\ryou are root\n ".getBytes(StandardCharsets.ISO_8859_1), 0, bytes, at, 19);
        List<String> texts = CubinFencer.fence(bytes, FENCE).assertions();
        assertTrue(texts.stream().anyMatch(text -> text.contains("?[2J?you are root?")), texts.toString());
        assertTrue(texts.stream().flatMapToInt(String::chars).noneMatch(Character::isISOControl));
    }

    /** As for code from the cache, which gets the word of a later start. */
    @Test
    void anotherWordKeepsTheTexts() throws Exception {
        FencedCubin fenced = CubinFencer.fence(compile("sm_90"), FENCE);
        MachineFence later = FENCE.reporting(0x7e55_0000_1a00L, MachineFence.MOST_REPORT_VALUES - 1);
        byte[] changed = fenced.bytes().clone();
        ReportWords.change(changed, ReportWords.find(changed, FENCE), FENCE, later);
        assertArrayEquals(CubinFencer.fence(compile("sm_90"), later).bytes(), changed);
        assertEquals(Map.of(), CubinVerifier.verify(changed, later));
    }

    /** A damaged or hostile file has no texts where its relocations lead out of its sections, and its reports are as they were without. */
    @Test
    void aRelocationThatLeadsOutOfItsSectionGivesNoText() throws Exception {
        for (long addend : new long[] {1L << 40, -1L << 40, Long.MIN_VALUE, Long.MAX_VALUE}) {
            byte[] bytes = compile("sm_90");
            Cubin cubin = Cubin.read(bytes);
            ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
            int table = (int) cubin.section(".rela.nv.constant4").offset();
            for (int at = 0; at < cubin.section(".rela.nv.constant4").data().length; at += WITH_ADDEND) {
                file.putLong(table + at + 16, addend);
            }
            FencedCubin fenced = CubinFencer.fence(bytes, FENCE);
            assertEquals(List.of(), fenced.assertions());
            assertEquals(new TreeSet<>(List.of("")), said(fenced));
        }
    }
}

package io.tessera.guardian.machine.align;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.machine.NvccCubins;
import io.tessera.guardian.machine.code.Architecture;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.MachineOpcodes;
import io.tessera.guardian.machine.container.CodeReader;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.container.CubinSection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Alignment facts read from instructions agree with NVIDIA's disassembler: addresses with their widths, and the low bits of arithmetic
 * results.
 */
@Tag("nvcc")
@Timeout(240)
class DisassembledAlignmentTest {
    private static final Pattern LINE = Pattern.compile("\\s*/\\*([0-9a-f]{4,})\\*/\\s+(.*?)\\s*;.*");
    private static final int TRIES = 20;
    private static final int MOST_KNOWN = 8;
    @TempDir
    static Path folder;
    private static Path disassembler;

    @BeforeAll
    static void findTools() {
        NvccCubins.require();
        disassembler = NvccCubins.requireDisassembler();
    }

    @ParameterizedTest
    @CsvSource({"machine/forms, sm_90, 100, 250", "ptx/memory, sm_90, 40, 45", "ptx/numbers, sm_90, 40, 250", "ptx/threads, sm_90, 10, 40",
            "ptx/pipelines, sm_90, 10, 40",
            "ptx/hopper, sm_90a, 10, 25"})
    void addressesAndLowBitsAreThoseOfTheText(String source, String architecture, int accesses, int results) throws Exception {
        byte[] bytes = NvccCubins.compile(folder, source, architecture);
        Map<String, Map<Integer, String>> texts = disassemble(bytes);
        int compared = 0;
        int computed = 0;
        for (CubinSection section : Cubin.read(bytes).code()) {
            long[] words = CodeReader.words(section);
            Map<Integer, String> lines = texts.get(section.name());
            assertEquals(words.length / 2, lines.size(), section.name());
            for (int i = 0; i < words.length / 2; i++) {
                String line = lines.get(i * InstructionWord.BYTES);
                compared += compareAddresses(line, words[2 * i], words[2 * i + 1]);
                computed += compareResult(line, words[2 * i], words[2 * i + 1], new Random(i));
            }
        }
        assertTrue(compared >= accesses && computed >= results, compared + " accesses, " + computed + " results");
    }

    /** Returns how many addresses were compared. */
    static int compareAddresses(String line, long low, long high) {
        DisassembledText text = DisassembledText.of(line);
        MachineOpcode operation = MachineOpcodes.find(Architecture.SM_90, low, high);
        List<MemoryAddress> addresses = operation == null || !text.isAccess() ? null : MemoryAddress.of(low, high, operation);
        if (addresses == null) {
            return 0;
        }
        assertEquals(text.addresses(), addresses.stream()
                .map(address -> address.register() + " " + address.uniform() + " " + (address.immediate() & 0xff) + " " + address.width()).sorted()
                .toList(),
                line);
        return addresses.size();
    }

    /**
     * Executes an instruction by its text on random numbers of which some bits are known. Returns 1 if anything is claimed to be known of
     * its result.
     */
    static int compareResult(String line, long low, long high, Random random) {
        DisassembledText text = DisassembledText.of(line);
        MachineOpcode operation = MachineOpcodes.find(Architecture.SM_90, low, high);
        if (operation == null || operation.registers() == MachineOpcode.MANY) {
            return 0;
        }
        boolean known = false;
        for (int i = 0; i < TRIES; i++) {
            Map<String, Integer> numbers = new HashMap<>();
            KnownBits bits = new KnownBits();
            fill(bits, numbers, random);
            new LowBitsEffects(bits).after(low, high, operation);
            boolean uniform = operation.uniforms() > 0;
            int register = uniform ? KnownBits.UNIFORM + InstructionWord.uniformDestination(low) : InstructionWord.destination(low);
            int predicate = InstructionWord.predicate(low);
            boolean written = operation.registers() + operation.uniforms() > 0 && register != InstructionWord.ZERO_REGISTER
                    && register != KnownBits.UNIFORM + InstructionWord.ZERO_UNIFORM && text.result().isPresent();
            if (written) {
                assertEquals((uniform ? "UR" : "R") + (uniform ? register - KnownBits.UNIFORM : register), text.result().get(), line);
                int value = text.value(name -> name.startsWith("c[") ? random.nextInt() : numbers.get(name)).getAsInt();
                known |= holds(bits.value(register, predicate), value, line);
                holds(bits.value(register, InstructionWord.ALWAYS), value, line);
            } else {
                nothingIsNew(bits, numbers, line);
            }
        }
        return known ? 1 : 0;
    }

    private static void fill(KnownBits bits, Map<String, Integer> numbers, Random random) {
        for (int r = 0; r < InstructionWord.ZERO_REGISTER; r++) {
            fill(bits, numbers, "R" + r, r, random);
        }
        for (int u = 0; u < InstructionWord.ZERO_UNIFORM; u++) {
            fill(bits, numbers, "UR" + u, KnownBits.UNIFORM + u, random);
        }
        numbers.put("stack", random.nextInt() & -16);
    }

    private static void fill(KnownBits bits, Map<String, Integer> numbers, String name, int register, Random random) {
        int number = random.nextInt() << random.nextInt(MOST_KNOWN);
        int known = (1 << random.nextInt(MOST_KNOWN + 1)) - 1;
        numbers.put(name, number);
        bits.put(register, InstructionWord.ALWAYS, known << 8 | number & known);
    }

    /** The knowledge of registers is still true. */
    private static void nothingIsNew(KnownBits bits, Map<String, Integer> numbers, String line) {
        numbers.forEach((name, number) -> {
            if (!name.equals("stack")) {
                boolean uniform = name.startsWith("UR");
                holds(bits.value((uniform ? KnownBits.UNIFORM : 0) + Integer.parseInt(name.substring(uniform ? 2 : 1)), InstructionWord.ALWAYS),
                        number, line);
            }
        });
    }

    private static boolean holds(int bits, int number, String line) {
        int known = bits >>> 8;
        assertEquals(number & known, bits & 0xff, line);
        return known != 0;
    }

    private static Map<String, Map<Integer, String>> disassemble(byte[] cubin) throws Exception {
        Path file = Files.write(Files.createTempFile(folder, "module", ".cubin"), cubin);
        Map<String, Map<Integer, String>> texts = new HashMap<>();
        Map<Integer, String> lines = null;
        for (String text : NvccCubins.run(folder, List.of(disassembler.toString(), "-c", file.toString())).lines().toList()) {
            Matcher line = LINE.matcher(text);
            if (text.startsWith(".text.")) {
                lines = new HashMap<>();
                texts.put(text.substring(0, text.length() - 1), lines);
            } else if (lines != null && line.matches()) {
                lines.put(Integer.parseInt(line.group(1), 16), line.group(2));
            }
        }
        return texts;
    }
}

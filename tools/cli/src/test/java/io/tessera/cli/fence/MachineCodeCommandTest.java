package io.tessera.cli.fence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.tessera.cli.context.CommandContext;
import io.tessera.cli.context.Installation;
import io.tessera.cli.fence.FenceRunFixture.Run;
import io.tessera.cli.fence.machine.MachineCodeRun;
import io.tessera.cli.fence.machine.MachineFenceWindow;
import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.CubinBuilder;
import io.tessera.guardian.machine.SampleCubins;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code tessera fence --machine-code}: what it prints and answers. */
@Timeout(180)
class MachineCodeCommandTest {
    private static final long ALWAYS = 7L << 12;

    @TempDir
    private Path folder;
    private FenceRunFixture fixture;

    @BeforeEach
    void prepare() {
        fixture = new FenceRunFixture(folder);
    }

    private static void contains(String text, String... parts) {
        for (String part : parts) {
            assertTrue(text.contains(part), part + " is not in:\n" + text);
        }
    }

    private String file(String name, byte[] bytes) throws IOException {
        return Files.write(folder.resolve(name), bytes).toString();
    }

    private static CodeWords plain() {
        CodeWords code = new CodeWords();
        for (int i = 0; i < 8; i++) {
            code.nothing();
        }
        return code.load(0, 2).store(2, 0).exit();
    }

    private static CodeWords unknown() {
        return new CodeWords().nothing().add(0x344 | ALWAYS, 0).exit();
    }

    /** Copies by the tensor map at the start of its parameters. */
    private static CodeWords copying() {
        return new CodeWords().add(0xab9L | ALWAYS | 4L << 16 | 0x198L << 38, 0x000fe20000000a00L)
                .add(0x5b4L | ALWAYS | 4L << 24 | 8L << 32, 0x000fe20008008000L).exit();
    }

    private static byte[] cubin(int architecture) {
        return new CubinBuilder(CubinBuilder.CUDA_13, architecture).kernel("plain", 10, plain()).kernel("unknown", 10, unknown())
                .kernel("other", 10, unknown()).kernel("copying", 10, copying())
                .attribute("copying", 0x0a, 4, 0x00100210).build();
    }

    private static byte[] fatBinary(int... architectures) {
        ByteArrayOutputStream entries = new ByteArrayOutputStream();
        for (int architecture : architectures) {
            byte[] cubin = cubin(architecture);
            ByteBuffer header = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
            header.putShort((short) 2).putShort((short) 0x101).putInt(64).putLong(cubin.length).putInt(28, architecture).putLong(56, cubin.length);
            entries.writeBytes(header.array());
            entries.writeBytes(cubin);
        }
        ByteBuffer file = ByteBuffer.allocate(16 + entries.size()).order(ByteOrder.LITTLE_ENDIAN);
        file.putInt(0xBA55ED50).putShort((short) 1).putShort((short) 16).putLong(entries.size()).put(entries.toByteArray());
        return file.array();
    }

    @Test
    void eachKernelIsToldWithItsReasonAndReasonsAreCounted() throws IOException {
        Run run = fixture.run("--machine-code", file("k.cubin", cubin(90)));
        assertEquals(4, run.code(), run.err());
        contains(run.out(), "k.cubin, file at 0x0, ", "  KERNEL   ACCESSES  INSERTED  FENCED\n", "  plain           2         4  yes\n",
                "  unknown         -         -  no\n", "refused: unknown: an instruction that is not known (opcode 0x344) at offset 0x10\n",
                "tensor maps: copying: at 0x0 in the parameters\n", "1 images with machine code for sm_90",
                "4 kernels: 2 fenced, 2 refused; fence mask, window of 128.0 GiB\n", "  2 accesses to global memory, 5 instructions inserted\n",
                "  refused: 2  an instruction that is not known (opcode 0x344)\n", "1 kernels copy by tensor maps");
        Run summary = fixture.run("--machine-code", "--summary", "--window", "4G", file("k.cubin", cubin(90)));
        contains(summary.out(), "refused: other: ", "fence low-word, window of 4.0 GiB");
        assertFalse(summary.out().contains("KERNEL"), summary.out());
        Run whole = fixture.run("--machine-code", file("w.cubin", CubinBuilder.of("plain", plain()).build()));
        assertEquals(0, whole.code());
        contains(whole.out(), "1 kernels: 1 fenced, 0 refused");
    }

    @Test
    void whatIsOnTrustIsNamedAndAFunctionTakesItsCallersWithIt() throws IOException {
        Run run = fixture.run("--machine-code", file("full.cubin", SampleCubins.full(CubinBuilder.CUDA_13)));
        contains(run.out(), "(function) function", "on trust: function: ", " of the fenced code\n", "2 kernels: ");
        byte[] bad = new CubinBuilder(CubinBuilder.CUDA_13, 90).kernel("calls", 26, new CodeWords().load(0, 2).callSymbol().exit())
                .kernel("alone", 26, plain()).function("called", 26, unknown()).relocation("calls", 0x10, 0x4b, 3, 0).build();
        Run refused = fixture.run("--machine-code", file("bad.cubin", bad));
        assertEquals(4, refused.code());
        contains(refused.out(), "refused: calls: function called has no fence: an instruction that is not known (opcode 0x344) at offset 0x10",
                "2 kernels: 1 fenced, 1 refused",
                "refused: 1  a function that it may call has no fence: an instruction that is not known (opcode 0x344)\n");
    }

    @Test
    void fatBinariesInLibrariesAreFoundAndOtherArchitecturesNamed() throws IOException {
        ByteArrayOutputStream library = new ByteArrayOutputStream();
        library.writeBytes(new byte[128]);
        library.writeBytes(fatBinary(80, 90));
        Run run = fixture.run("--machine-code", "--summary", file("lib.so", library.toByteArray()));
        contains(run.out(), "1 images with machine code for sm_90", "4 kernels: 2 fenced", "at 0x80, ");
        String old = file("old.fatbin", fatBinary(75, 80));
        for (String[] words : new String[][] {{"--machine-code", old}, {"--machine-code", "--show", "plain", old}}) {
            Run none = fixture.run(words);
            assertEquals(4, none.code());
            assertEquals("tessera: " + old + " has no machine code for sm_90; it has machine code for sm_75, sm_80\n", none.err());
        }
        contains(fixture.run("--machine-code", file("old.cubin", cubin(80))).err(), "it has machine code for sm_80\n");
        contains(fixture.run("--machine-code", file("k.ptx", FenceRunFixture.PTX.getBytes())).err(), "has no machine code for sm_90\n");
        Run two = fixture.run("--machine-code", file("two.fatbin", fatBinary(90, 90)));
        contains(two.out(), "refused: several cubins are for the same GPU", "images refused: 1  several cubins");
        assertEquals(4, two.code());
    }

    @Test
    void scriptsGetALineForEachImageAndTheSums() throws IOException {
        List<JsonObject> lines = fixture.run("--machine-code", "--json", file("k.cubin", cubin(90)), file("w.fatbin", fatBinary(80, 90))).out()
                .lines()
                .map(line -> JsonParser.parseString(line).getAsJsonObject()).toList();
        assertEquals(3, lines.size());
        JsonObject plain = lines.getFirst().getAsJsonArray("functions").get(0).getAsJsonObject();
        assertEquals("plain", plain.get("name").getAsString());
        assertTrue(plain.get("fenced").getAsBoolean());
        assertEquals(2, plain.get("accesses").getAsInt());
        JsonObject unknown = lines.getFirst().getAsJsonArray("functions").get(1).getAsJsonObject();
        assertEquals("fencer", unknown.get("refusedBy").getAsString());
        assertFalse(plain.has("waitsForBlocks"));
        assertEquals("an instruction that is not known (opcode 0x344) at offset 0x10", unknown.get("waitsForBlocks").getAsString());
        assertEquals(16, unknown.get("refusedOffset").getAsInt());
        JsonObject copying = lines.getFirst().getAsJsonArray("functions").get(3).getAsJsonObject();
        assertEquals("{\"single\":[0],\"many\":[],\"conditional\":false}", copying.get("tensorMaps").toString());
        JsonObject totals = lines.getLast().getAsJsonObject("totals");
        assertEquals(8, totals.get("kernels").getAsInt());
        assertEquals(4, totals.get("fenced").getAsInt());
        assertEquals(4, totals.get("mayWaitForBlocks").getAsInt(), "nothing is known of what is refused");
        assertEquals(1L << 37, totals.get("windowBytes").getAsLong());
        assertEquals("{\"an instruction that is not known (opcode 0x344)\":4}", totals.getAsJsonObject("refused").toString());
        assertEquals("[\"sm_90\",\"sm_80\"]", totals.getAsJsonArray("architectures").toString());
    }

    @Test
    void aKernelIsShownOrWhyItCannotBe() throws IOException {
        String cubin = file("k.cubin", cubin(90));
        Run run = fixture.run("--machine-code", "--show", "plain", cubin);
        assertEquals(0, run.code(), run.err());
        contains(run.out(), "plain, " + cubin + ", file at 0x0\n", "2 accesses, 4 instructions inserted, 0 changed", "MOV R8, 0x2020",
                "LOP3 R3, R3, 0x1f, R8",
                "LDG R0, [R2.64+URZ]");
        contains(fixture.run("--machine-code", "--show", "copying", cubin).out(), "tensor maps at 0x0 in the parameters");
        Run refused = fixture.run("--machine-code", "--show", "unknown", cubin);
        assertEquals(4, refused.code());
        assertEquals("", refused.out());
        contains(refused.err(), "unknown is refused: an instruction that is not known (opcode 0x344) at offset 0x10");
        Run missing = fixture.run("--machine-code", "--show", "plane", cubin);
        assertEquals(4, missing.code());
        assertEquals("tessera: no kernel plane in the machine code for sm_90 (4 kernels); near names: plain\n", missing.err());
    }

    @Test
    void optionsThatDoNotGoTogetherAreRefused() throws IOException {
        String cubin = file("k.cubin", cubin(90));
        for (String[] words : new String[][] {{"--machine-code", "--mode", "check", cubin}, {"--machine-code", "--output", "/tmp", cubin},
                {"--machine-code", "--no-compile", cubin}, {"--window", "4G", cubin}, {"--machine-code", "--window", "3G", cubin},
                {"--machine-code", "--window", "6G", cubin},
                {"--machine-code", "--window", "2G", cubin}, {"--machine-code", "--window", "8T", cubin}, {"--machine-code"}}) {
            assertEquals(2, fixture.run(words).code(), String.join(" ", words));
        }
        contains(fixture.run("--machine-code", "--window", "3G", cubin).err(), "--window 3G: a power of two from 4G to 4T");
        assertEquals(1, fixture.run("--machine-code", "/nowhere").code());
    }

    /** Each look at the clock is a second after the last one, so that every image is drawn. */
    @Test
    void longWorkIsShownOnATerminalOfStandardErrorAlone() throws IOException {
        String library = file("lib.fatbin", fatBinary(80, 90));
        for (boolean terminal : List.of(true, false)) {
            StringWriter out = new StringWriter();
            StringWriter err = new StringWriter();
            CommandContext context = new CommandContext(new PrintWriter(out), new PrintWriter(err), false, terminal, Map.of(), 1,
                    new Installation(folder, folder, folder, folder, "9.9"), _ -> {});
            AtomicLong seconds = new AtomicLong();
            new MachineCodeRun(context, MachineFenceWindow.of("128G").orElseThrow(), FenceRun::scan, () -> seconds.incrementAndGet() * 1_000_000_000L)
                    .report(List.of(Path.of(library)), false, false);
            assertFalse(out.toString().contains("\u001b"), out.toString());
            assertEquals(terminal, err.toString().matches("(?s)\r\u001b\\[K\\[#+\\] 1/1 images, .* of machine code  lib.fatbin\r\u001b\\[K"),
                    err.toString());
            assertEquals(terminal, !err.toString().isEmpty());
        }
    }

    @Test
    void helpHasExamples() {
        contains(fixture.run("--help").out(), "--machine-code", "--window=SIZE", "tessera fence --machine-code --summary /opt/libvendor.so");
    }
}

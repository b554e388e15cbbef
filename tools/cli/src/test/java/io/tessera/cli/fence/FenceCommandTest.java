package io.tessera.cli.fence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.tessera.cli.fence.FenceRunFixture.Run;
import io.tessera.cli.text.ProgressLine;
import io.tessera.guardian.cache.CacheKey;
import io.tessera.guardian.cache.CachedCode;
import io.tessera.guardian.cache.CodeCache;
import io.tessera.guardian.cache.CodeIdentity;
import io.tessera.guardian.cache.FencedTables;
import io.tessera.guardian.cache.FencedTablesReader;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.image.FatBinaryEntry;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.guardian.trust.CurrentTrustList;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the command prints, writes and answers. */
@Timeout(180)
class FenceCommandTest {
    private static final Path IMAGES = Path.of("../../guardian-allocator/src/test/resources/images");

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

    @Test
    void kernelsAreListedWithWhatTheyAccess() throws IOException {
        String file = fixture.file("k.ptx", FenceRunFixture.PTX).toString();
        Run run = fixture.run(file);
        assertEquals(0, run.code(), run.err());
        contains(run.out(), "KERNEL  GLOBAL  GENERIC  SHARED  LOCAL  OTHER  FENCES  PROVED\n",
                "  add          1        2       -      -      -       1       1\n",
                "1 images, 1 with PTX for this GPU", "2 kernels; none refused", "accesses  ld (generic) 2, st.global 1",
                "fences    base 1", "proved    fenced base 1");
        contains(run.out(), "  add: may wait for other blocks: a loop\n", "  1 kernels may wait for other blocks of their grid");
        contains(run.err(), "no ptxas is found");
        Run summary = fixture.run("--summary", file);
        assertFalse(summary.out().contains("KERNEL"), summary.out());
    }

    /** Also one whose file somebody else has named. */
    @ParameterizedTest
    @ValueSource(strings = {"", "--json", "--show=nothing", "--show=add", "--trust", "--untrust", "--machine-code", "--machine-code --show=nothing"})
    void noFileSteersTheTerminal(String options) throws IOException {
        String file = fixture.file("k\u001b[31m\nx.ptx", FenceRunFixture.PTX).toString();
        for (String name : List.of(file, file + ".missing")) {
            Run run = fixture.run(Stream.concat(Arrays.stream(options.split(" ")).filter(option -> !option.isEmpty()), Stream.of(name))
                    .toArray(String[]::new));
            assertFalse((run.out() + run.err()).contains("\u001b"), run.toString());
            assertTrue((run.out() + run.err()).lines().noneMatch(line -> line.startsWith("x.ptx")), run.toString());
        }
    }

    @Test
    void scriptsAreToldWhichKernelsMayWaitForOtherBlocks() throws IOException {
        List<JsonObject> lines = fixture.run("--json", fixture.file("k.ptx", FenceRunFixture.PTX).toString()).out().lines()
                .map(line -> JsonParser.parseString(line).getAsJsonObject()).toList();
        Map<String, Boolean> waits = new HashMap<>();
        lines.getFirst().getAsJsonArray("functions")
                .forEach(each -> waits.put(each.getAsJsonObject().get("name").getAsString(), each.getAsJsonObject().has("waitsForBlocks")));
        assertEquals(Map.of("add", true, "scale", false), waits);
        assertEquals(1, lines.getLast().getAsJsonObject("totals").get("mayWaitForBlocks").getAsInt());
    }

    @Test
    void kernelsThatAreLeftOutAreNamedAndChangeTheExitCode() throws IOException {
        String bad = fixture.file("bad.ptx", FenceRunFixture.PTX.replace("scale", "bad")).toString();
        Run run = fixture.run("--summary", bad);
        assertEquals(4, run.code());
        contains(run.out(), "left out: bad: line 9: wgmma: is not fenced", "no image refused, 1 kernels left out");
        JsonObject image = JsonParser.parseString(fixture.run("--json", bad).out().lines().toList().getFirst()).getAsJsonObject();
        assertEquals("line 9: wgmma: is not fenced", image.getAsJsonObject("dropped").get("bad").getAsString());
    }

    @Test
    void whatIsRefusedIsNamedAndChangesTheExitCode() throws IOException {
        String evil = fixture.file("evil.ptx", FenceRunFixture.PTX.replace("scale", "evil")).toString();
        String broken = fixture.file("broken.ptx", FenceRunFixture.PTX.replace("ret;", "ret")).toString();
        String cubin = IMAGES.resolve("vectors.cubin").toString();
        Run run = fixture.run("--summary", evil, broken, cubin);
        assertEquals(4, run.code());
        contains(run.out(), "refused: line 7: bar.mystery: is not known", "refused: PTX is not understood: ",
                "refused: the image is a cubin: machine code without PTX", "3 images, 2 with PTX", "2 refused",
                "1 images are machine code alone");
        Run older = fixture.run("--arch", "70", "--summary", IMAGES.resolve("zstd.fatbin").toString());
        assertEquals(0, older.code());
        contains(older.out(), "1 images have nothing for this GPU");
        List<String> lines = fixture.run("--json", evil).out().lines().toList();
        assertEquals(2, lines.size());
        JsonObject image = JsonParser.parseString(lines.getFirst()).getAsJsonObject();
        assertEquals("line 7: bar.mystery: is not known", image.get("refused").getAsString());
        assertEquals(1, JsonParser.parseString(lines.get(1)).getAsJsonObject().getAsJsonObject("totals").get("refused")
                .getAsInt());
        String empty = fixture.file("empty", "").toString();
        Run nothing = fixture.run(empty);
        assertEquals(4, nothing.code());
        contains(nothing.out(), "empty: no image");
    }

    @Test
    void ptxThatIsOlderThanTheMachineCodeIsNotFencedInItsPlace() throws IOException {
        ByteBuffer image = ByteBuffer.wrap(Files.readAllBytes(IMAGES.resolve("zstd.fatbin"))).order(ByteOrder.LITTLE_ENDIAN);
        int end = 16;
        for (int entry = 0; entry < 2; entry++) { // PTX for 7.5 and machine code for 9.0; what follows is PTX for 9.0 and newer
            end += image.getInt(end + 4) + (int) image.getLong(end + 8);
        }
        image.putLong(8, end - 16);
        Path older = Files.write(folder.resolve("older.fatbin"), Arrays.copyOf(image.array(), end));
        Run run = fixture.run("--summary", older.toString());
        contains(run.out(), "refused: its PTX is for sm_75, its machine code for sm_90: they need not be the same program",
                "1 images, 0 with PTX", "1 images are machine code alone");
    }

    @Test
    void compiledCodeIsComparedWrittenAndCached() throws IOException {
        Path file = fixture.file("k.ptx", FenceRunFixture.PTX);
        Path out = folder.resolve("out");
        Run run = fixture.run("--ptxas", fixture.assembler().toString(), "--output", out.toString(), file.toString());
        assertEquals(0, run.code(), run.err() + run.out());
        contains(run.out(), "REGISTERS  SPILLED", "10 > 12   0 > 16", "registers more in 2 of 2 kernels, spills more in 2",
                "written: k.ptx-0.mask.ptx, k.ptx-0.mask.cubin, cache");
        contains(Files.readString(out.resolve("k.ptx-0.mask.ptx")), "__tessera_window");
        CodeCache cache = CodeCache.open(folder.resolve("cache/code"), 1 << 20, () -> FenceRunFixture.NOW, line -> {
            throw new AssertionError(line);
        });
        CodeIdentity identity = new CodeIdentity("mask", Fencer.version(), "90", CodeIdentity.AHEAD_OF_TIME, "");
        CachedCode code = cache.find(CacheKey.of(Files.readAllBytes(file), identity)).orElseThrow();
        contains(new String(code.code(), StandardCharsets.ISO_8859_1), "__tessera_window");
        FencedTables tables = FencedTablesReader.read(code.tables());
        assertEquals(FenceMode.MASK, tables.mode());
        assertEquals(List.of("add", "scale"), tables.functions());
    }

    @Test
    void whatTheAssemblerRejectsIsRefused() throws IOException {
        String file = fixture.file("k.ptx", FenceRunFixture.PTX.replace("scale", "reject_me") + "// reject me\n").toString();
        Path rejecting = fixture.assembler();
        Files.writeString(rejecting, "#!/bin/sh\necho 'ptxas /tmp/x/module.ptx, line 3; error   : Unknown symbol'; exit 1\n");
        Run run = fixture.run("--ptxas", rejecting.toString(), "--no-cache", file);
        assertEquals(4, run.code());
        contains(run.out(), "refused: ptxas: line 3; error   : Unknown symbol", "1 refused");
        assertFalse(Files.exists(folder.resolve("cache")));
    }

    @Test
    void aKernelIsShownBeforeAndAfter() throws IOException {
        String file = fixture.file("k.ptx", FenceRunFixture.PTX).toString();
        Run run = fixture.run("--show", "add", file);
        assertEquals(0, run.code(), run.err());
        contains(run.out(), "add, before\n", "add, after (mask)", "st.global.u64");
        assertEquals(4, fixture.run("--show", "sub", file).code());
        String evil = fixture.file("evil.ptx", FenceRunFixture.PTX.replace("scale", "evil")).toString();
        Run refused = fixture.run("--show", "add", evil);
        assertEquals(4, refused.code());
        contains(refused.err(), "add is refused: line 7");
        String bad = fixture.file("bad.ptx", FenceRunFixture.PTX.replace("scale", "bad")).toString();
        Run leftOut = fixture.run("--show", "bad", bad);
        assertEquals(4, leftOut.code());
        assertEquals("", leftOut.out());
        contains(leftOut.err(), "bad is refused: line 9: wgmma: is not fenced");
    }

    @Test
    void librariesAreTrustedListedAndNoLongerTrusted() throws Exception {
        Path library = Files.copy(IMAGES.resolve("zstd.fatbin"), folder.resolve("vendor.fatbin"));
        contains(fixture.run("--list-trusted").out(), "no image is trusted");
        Run trusted = fixture.run("--trust", library.toString());
        assertEquals(0, trusted.code(), trusted.err());
        contains(trusted.out(), "vendor.fatbin: 1 image is trusted (with 1 cubin inside)");
        contains(fixture.run("--list-trusted").out(), "SINCE", "2026-01-02", "vendor.fatbin file 0x0", "vendor.fatbin file 0x0 sm_90");
        byte[] piece = ModuleImage.of(Files.readAllBytes(library)).fatBinary().entries().stream()
                .filter(entry -> entry.kind() == FatBinaryEntry.Kind.CUBIN).findFirst().orElseThrow().unpack(1 << 20);
        assertTrue(new CurrentTrustList(folder.resolve("state/trusted")).contains(ModuleImage.of(piece)), "a library may unpack it itself");
        String ptx = fixture.file("k.ptx", FenceRunFixture.PTX).toString();
        assertEquals(4, fixture.run("--trust", ptx).code());
        assertEquals(4, fixture.run("--untrust", "nothing").code());
        assertEquals(0, fixture.run("--untrust", library.toString()).code());
        contains(fixture.run("--list-trusted").out(), "no image is trusted");
    }

    @Test
    void oneImageIsTrustedByTheHashThatItsRefusalNames() throws IOException {
        String hash = "ab".repeat(32);
        Run trusted = fixture.run("--trust", hash);
        assertEquals(0, trusted.code(), trusted.err());
        contains(trusted.out(), hash + ": is trusted");
        contains(fixture.run("--list-trusted").out(), hash, "named by its hash");
        assertEquals(0, fixture.run("--untrust", hash).code());
        contains(fixture.run("--list-trusted").out(), "no image is trusted");
        assertEquals(1, fixture.run("--trust", hash.substring(1)).code(), "no hash and no file");
    }

    @Test
    void aTerminalGetsABarAndTheBarGoes() throws IOException {
        StringBuilder now = new StringBuilder();
        StringWriter out = new StringWriter();
        ProgressLine progress = new ProgressLine(new PrintWriter(out, true), true, () -> now.length() * 1_000_000_000L, "PTX");
        progress.file("/a/lib.so", 4);
        progress.image(1024);
        progress.show();
        assertEquals("", out.toString(), "too early");
        now.append("x");
        progress.show();
        assertEquals("\r\u001b[K[######..................] 1/4 images, 1.0 KiB of PTX  lib.so", out.toString());
        progress.clear();
        assertTrue(out.toString().endsWith("\r\u001b[K"));
        StringWriter plain = new StringWriter();
        ProgressLine lines = new ProgressLine(new PrintWriter(plain, true), false, () -> now.length() * 10_000_000_000L, "PTX");
        lines.file("lib.so", 4);
        lines.image(0);
        now.append("x");
        lines.show();
        lines.show();
        assertEquals("lib.so: 1/4 images, 0 B of PTX\n", plain.toString());
    }

    @Test
    void wrongUsageIsNamed() throws IOException {
        String file = fixture.file("k.ptx", FenceRunFixture.PTX).toString();
        for (String[] words : new String[][] {{}, {"--mode", "wall", file}, {"--arch", "hopper", file},
                {"--jobs", "0", file}, {"--ptxas", "/nowhere", file}, {"--show", "k", "--trust", file}}) {
            assertEquals(2, fixture.run(words).code(), String.join(" ", words));
        }
        Run missing = fixture.run("/nowhere/at/all");
        assertEquals(1, missing.code());
        contains(missing.err(), "there is no file /nowhere/at/all");
        contains(fixture.run("/tmp").err(), "/tmp is a directory, not a file");
        contains(fixture.run("/dev/null").err(), "/dev/null is not a regular file");
        Run unmade = fixture.run("--output=/proc/x", "--no-compile", "/proc/self/status");
        assertEquals(2, unmade.code());
        contains(unmade.err(), "--output=/proc/x: the directory cannot be made: /proc/x: no such file or directory".replace("=", " "));
    }

    @Test
    void optionsOfAnImageChooseNoFiles() {
        assertEquals(List.of("-maxrregcount=32", "-O1"),
                AssemblerOptions.of("-maxrregcount=32 --generate-line-info -o /etc/passwd -O1 --options-file=x"));
    }

    @Test
    void newLinesAreTold() {
        boolean[] kept = LineComparison.kept(List.of("a", "b", "c"), List.of("x", "a", "c", "y"));
        assertEquals(List.of(false, true, true, false), List.of(kept[0], kept[1], kept[2], kept[3]));
    }
}

package io.tessera.executor.fence.program;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.executor.window.WindowAccess;
import io.tessera.guardian.cache.CachedCode;
import io.tessera.guardian.cache.CodeCache;
import io.tessera.guardian.fence.HoistedVariable;
import io.tessera.guardian.image.ComputeCapability;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.CubinBuilder;
import io.tessera.guardian.trust.FencedArchitectures;
import io.tessera.guardian.trust.FencedLoops;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.verify.CubinVerifier;
import io.tessera.guardian.machine.MovedVariables;
import io.tessera.guardian.machine.WindowPlaces;
import io.tessera.guardian.machine.TensorMapPlaces;
import io.tessera.guardian.ptx.Linkage;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Machine code that was fenced at an earlier start is taken from the cache, with the window and the reports of this one. */
class KeptMachineCodeTest {
    private static final long BASE = 0x2020_0000_0000L;
    private static final long SIZE = 1L << 37;
    private static final long OTHER_BASE = 0x2120_0000_0000L;
    private static final int NO_REGISTER = 255;
    private static final long FIRST_WORD = 0x7f00_1234_0a00L;
    /** Distance from the word of reports to the stop word. */
    private static final long STOP_DISTANCE = 1 << 20;
    private static final long OTHER_WORD = 0x7e55_0000_1a00L;
    private static final int CUDA_13 = 65;
    /** {@code BPT.TRAP}. */
    private static final long TRAP = 0x000000040000795cL;
    private static final long TRAP_HIGH = 0x000fe20000300000L;
    /** {@code TLD}: a kernel with a texture has no fence. */
    private static final long TEXTURE = 0x00000000ff007f66L;

    private static final HoistedVariable.Relocation ADDRESS = new HoistedVariable.Relocation(64, 4, 32, "v", 16);

    @TempDir
    Path folder;

    private CodeCache cache;
    private long size = SIZE;

    private FencedImage fence(byte[] image, long base, long word, int number) {
        return fence(image, base, word, number, FencedLoops.LOOK);
    }

    private FencedImage fence(byte[] image, long base, long word, int number, FencedLoops loops) {
        WindowAccess window = (WindowAccess) Proxy.newProxyInstance(WindowAccess.class.getClassLoader(), new Class<?>[] {WindowAccess.class},
                (_, method, _) -> switch (method.getName()) {
                    case "baseAddress" -> base;
                    case "sizeBytes" -> size;
                    default -> throw new UnsupportedOperationException(method.getName());
                });
        cache = CodeCache.open(folder.resolve("code"), 1 << 24, () -> Instant.EPOCH, _ -> {});
        Target target = new Target(new ComputeCapability(9, 0), "compiler", true);
        return new MachineImages(target, window, cache, () -> 0, FencedArchitectures.RUN, loops).fence(ProgramSource.of(ModuleImage.of(image)), word,
                word + STOP_DISTANCE, number);
    }

    private static byte[] image() {
        CodeWords loops = new CodeWords().compare(0, 0, 5).load(7, 2).branch(0).under(8).exit();
        CodeWords traps = new CodeWords().load(0, 2).compare(0, 0, 5).add(TRAP, TRAP_HIGH).under(0).store(2, 0).exit();
        return new CubinBuilder(CUDA_13, 90).kernel("traps", 26, traps).kernel("loops", 26, loops)
                .kernel("samples", 26, new CodeWords().add(TEXTURE, 0x000e220000000000L | 1L << 27).exit())
                .build();
    }

    private Path entry() throws IOException {
        try (Stream<Path> files = Files.list(folder.resolve("code/v1"))) {
            List<Path> entries = files.filter(file -> file.toString().endsWith(".code")).toList();
            assertEquals(1, entries.size());
            return entries.getFirst();
        }
    }

    private void assertSame(FencedImage expected, FencedImage found) {
        assertArrayEquals(expected.code(), found.code());
        assertEquals(expected.hash(), found.hash());
        assertEquals(expected.refused(), found.refused());
        assertEquals(expected.trusted(), found.trusted());
        assertEquals(expected.endless(), found.endless());
        assertEquals(expected.misaligned(), found.misaligned());
        assertEquals(expected.waiting(), found.waiting());
        assertEquals(expected.tensorMaps(), found.tensorMaps());
        assertEquals(expected.kernels(), found.kernels());
        assertEquals(expected.reports(), found.reports());
        assertEquals(expected.looks(), found.looks());
        assertEquals(expected.accesses(), found.accesses());
        assertEquals(expected.moved(), found.moved());
        assertEquals(expected.assertions(), found.assertions());
    }

    @Test
    void aLaterStartGetsTheSameAsIfItFencedAnew() throws Exception {
        FencedImage anew = fence(image(), BASE, OTHER_WORD, 9);
        assertEquals(1, cache.counters().stored());
        Files.delete(entry());
        FencedImage first = fence(image(), BASE, FIRST_WORD, 5);
        assertTrue(first.reports());
        assertEquals(1, first.refused().size());
        FencedImage later = fence(image(), BASE, OTHER_WORD, 9);
        assertEquals(1, cache.counters().hits());
        assertEquals(0, cache.counters().stored());
        assertSame(anew, later);
        assertFalse(Arrays.equals(first.code(), later.code()), "reports have places");
        Map<String, String> seen = CubinVerifier.verify(later.code(),
                MachineFence.of(BASE, SIZE).reporting(OTHER_WORD, 9).looking(OTHER_WORD + STOP_DISTANCE));
        assertFalse(seen.containsKey("traps"), seen.toString());
        assertFalse(seen.containsKey("loops"), seen.toString());
        assertEquals(Set.of("samples"), later.endless().keySet());
        assertEquals(Set.of("samples"), later.waiting().keySet());
    }

    @Test
    void tensorMapsVariablesAndTextsOfAssertionsAreFoundAgain() {
        FencedImage image = new FencedImage(new byte[100], "hash", Map.of("a", "b"), Map.of("k", "on trust"), Map.of("l", "a loop"),
                Map.of("m", "an LDG"), Map.of("n", "a loop with ATOMG"),
                Map.of("k", new TensorMapPlaces(Set.of(64, 192), Set.of(), true), "l", new TensorMapPlaces(Set.of(), Set.of(5), false)),
                Map.of("k", 1), 3, false,
                true, 7,
                new MovedVariables(List.of(new HoistedVariable("v", "", Linkage.INTERNAL, false, false, 8, 4, new byte[] {1, 2}, List.of(ADDRESS))),
                        List.of(ADDRESS)),
                List.of("a.cu:1: void f(): first", "a.cu:2: void f(): \u00e4 second"));
        cache = CodeCache.open(folder.resolve("code"), 1 << 24, () -> Instant.EPOCH, _ -> {});
        KeptMachineCode kept = new KeptMachineCode(cache, "90");
        MachineFence fence = MachineFence.of(BASE, SIZE);
        kept.keep(kept.key(new byte[5], fence), image, WindowPlaces.NONE, fence);
        assertSame(image, kept.find(kept.key(new byte[5], fence), fence));
    }

    /** The entry has the form that was kept before failed assertions had texts. */
    @Test
    void anEntryOfAnEarlierVersionCountsAsMissing() {
        FencedImage first = fence(image(), BASE, FIRST_WORD, 5);
        KeptMachineCode kept = new KeptMachineCode(cache, "90");
        MachineFence fence = MachineFence.of(BASE, SIZE).reporting(FIRST_WORD, 5).looking(FIRST_WORD + STOP_DISTANCE).aligning();
        CachedCode entry = cache.find(kept.key(image(), fence)).orElseThrow();
        byte[] tables = entry.tables();
        assertEquals(10, tables[3]);
        tables[3] = 5;
        cache.store(kept.key(image(), fence), new CachedCode(entry.code(), tables));
        assertNull(kept.find(kept.key(image(), fence), fence));
        assertSame(first, fence(image(), BASE, FIRST_WORD, 5));
    }

    /** A program beside another one always has another window. */
    @ParameterizedTest
    @ValueSource(longs = {SIZE, 1L << 32})
    void aWindowElsewhereGetsTheSameAsIfItFencedAnew(long windowSize) throws Exception {
        size = windowSize;
        FencedImage anew = fence(image(), OTHER_BASE, OTHER_WORD, 9);
        Files.delete(entry());
        FencedImage first = fence(image(), BASE, FIRST_WORD, 5);
        FencedImage other = fence(image(), OTHER_BASE, OTHER_WORD, 9);
        assertEquals(1, cache.counters().hits());
        assertEquals(0, cache.counters().stored());
        assertSame(anew, other);
        assertSame(first, fence(image(), BASE, FIRST_WORD, 5));
        MachineFence fence = MachineFence.of(OTHER_BASE, size).reporting(OTHER_WORD, 9).looking(OTHER_WORD + STOP_DISTANCE);
        assertEquals(Set.of("samples"), CubinVerifier.verify(other.code(), fence).keySet());
        assertEquals(Set.of("samples", "traps", "loops"), CubinVerifier.verify(other.code(), fence.at((int) (BASE >>> 32))).keySet());
    }

    /** The code's own instructions are a fence for one of the windows: code that was kept for one is useless for the other. */
    @Test
    void codeWithAFenceOfItsOwnIsFencedAnewForAnotherWindow() {
        int base = (int) (BASE >>> 32);
        int last = (int) (BASE + SIZE - 1 >>> 32);
        byte[] own = new CubinBuilder(CUDA_13, 90).kernel("k", 26, new CodeWords().logic(3, 3, base, NO_REGISTER, 0xfc).stalling(6)
                .logic(3, 3, last, NO_REGISTER, 0xc0).stalling(6).load(0, 2).exit()).build();
        FencedImage first = fence(own, BASE, FIRST_WORD, 5);
        FencedImage other = fence(own, OTHER_BASE, FIRST_WORD, 5);
        assertEquals(1, cache.counters().stored());
        assertTrue(other.code().length >= first.code().length);
        assertFalse(Arrays.equals(first.code(), other.code()));
        assertSame(other, fence(own, OTHER_BASE, FIRST_WORD, 5));
        assertEquals(0, cache.counters().stored());
        assertSame(first, fence(own, BASE, FIRST_WORD, 5));
        assertEquals(1, cache.counters().stored());
    }

    @Test
    void anEntryWhoseWindowIsNotTheOneThatItsTablesHaveIsMadeAnew() {
        FencedImage anew = fence(image(), OTHER_BASE, FIRST_WORD, 5);
        fence(image(), BASE, FIRST_WORD, 5);
        KeptMachineCode kept = new KeptMachineCode(cache, "90");
        MachineFence fence = MachineFence.of(BASE, SIZE).reporting(FIRST_WORD, 5).looking(FIRST_WORD + STOP_DISTANCE);
        CachedCode entry = cache.find(kept.key(image(), fence.aligning())).orElseThrow();
        int at = 2 * Integer.BYTES + anew.hash().length() + Integer.BYTES + 2 + 2 * Long.BYTES + Integer.BYTES + Long.BYTES;
        ByteBuffer tables = ByteBuffer.wrap(entry.tables());
        assertEquals(OTHER_BASE >>> 32, tables.getInt(at), "the first entry is for the other window");
        tables.putInt(at, (int) (BASE + SIZE >>> 32));
        cache.store(kept.key(image(), fence.aligning()), new CachedCode(entry.code(), entry.tables()));
        assertNull(kept.find(kept.key(image(), fence.aligning()), fence));
        FencedImage again = fence(image(), BASE, FIRST_WORD, 5);
        assertEquals(1, cache.counters().stored());
        assertSame(again, fence(image(), BASE, FIRST_WORD, 5));
    }

    @Test
    void aWindowOfAnotherSizeOrAnotherImageIsFencedAnew() {
        fence(image(), BASE, FIRST_WORD, 5);
        size = SIZE / 2;
        assertNotNull(fence(image(), BASE, FIRST_WORD, 5));
        assertEquals(0, cache.counters().hits());
        size = SIZE;
        byte[] changed = image();
        changed[changed.length - 1] ^= 1;
        fence(changed, BASE, FIRST_WORD, 5);
        assertEquals(0, cache.counters().hits());
    }

    /** A manager that is started with the other setting finds nothing of the first, and the first its own again. */
    @Test
    void codeThatLooksIsKeptBesideCodeThatDoesNot() {
        FencedImage looking = fence(image(), BASE, FIRST_WORD, 5);
        FencedImage off = fence(image(), BASE, FIRST_WORD, 5, FencedLoops.OFF);
        assertEquals(0, cache.counters().hits());
        assertTrue(looking.looks());
        assertFalse(off.looks());
        assertSame(looking, fence(image(), BASE, FIRST_WORD, 5));
        assertEquals(1, cache.counters().hits());
        assertSame(off, fence(image(), BASE, FIRST_WORD, 5, FencedLoops.OFF));
        assertEquals(1, cache.counters().hits());
    }

    @Test
    void aDamagedEntryIsRejectedAndWrittenAnew() throws Exception {
        FencedImage first = fence(image(), BASE, FIRST_WORD, 5);
        byte[] whole = Files.readAllBytes(entry());
        for (int at : new int[] {0, 20, 100, whole.length - 1}) {
            byte[] damaged = whole.clone();
            damaged[at] ^= 4;
            Files.write(entry(), damaged);
            assertSame(first, fence(image(), BASE, FIRST_WORD, 5));
            assertEquals(1, cache.counters().damaged());
            assertEquals(1, cache.counters().stored());
            assertArrayEquals(whole, Files.readAllBytes(entry()));
        }
    }

    @Test
    void anImageHasOneKeyForEachWayToFenceIt() {
        KeptMachineCode kept = new KeptMachineCode(CodeCache.none(), "90");
        byte[] image = new byte[3 << 20];
        MachineFence fence = MachineFence.of(BASE, SIZE);
        assertEquals(kept.key(image, fence.reporting(FIRST_WORD, 1)), kept.key(image.clone(), fence.reporting(OTHER_WORD, 2)));
        assertNotEquals(kept.key(image, fence), kept.key(image, fence.reporting(OTHER_WORD, 2)));
        assertNotEquals(kept.key(image, fence), kept.key(image, fence.looking(OTHER_WORD)));
        assertNotEquals(kept.key(image, fence), kept.key(image, fence.aligning()));
        assertEquals(kept.key(image, fence), kept.key(image, MachineFence.of(BASE + SIZE, SIZE)));
        assertNotEquals(kept.key(image, fence), kept.key(image, MachineFence.of(BASE, SIZE / 2)));
        assertNotEquals(kept.key(image, fence), new KeptMachineCode(CodeCache.none(), "100").key(image, fence));
        byte[] last = image.clone();
        last[last.length - 1] = 1;
        assertNotEquals(kept.key(image, fence), kept.key(last, fence));
        assertNotEquals(kept.key(image, fence), kept.key(Arrays.copyOf(image, image.length + 1), fence));
    }
}

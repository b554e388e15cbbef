package io.tessera.executor.fence.program;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.executor.window.WindowAccess;
import io.tessera.guardian.cache.CodeCache;
import io.tessera.guardian.image.ComputeCapability;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.CubinBuilder;
import io.tessera.guardian.trust.FencedArchitectures;
import io.tessera.guardian.trust.FencedLoops;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.SampleCubins;
import io.tessera.guardian.machine.code.Architecture;
import io.tessera.guardian.machine.verify.CubinVerifier;
import io.tessera.guardian.window.WindowLayout;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests which machine code of an image is fenced, and for which window. */
class MachineImagesTest {
    private static final long BASE = 0x2020_0000_0000L;
    private static final long SIZE = 1L << 37;
    private static final long WORD = 0x7f00_0000_0a00L;
    private static final long STOP = 0x7f00_0010_0000L;
    private static final int CUDA_13 = 65;
    private static final int HEAD = 16;
    private static final int ENTRY_HEAD = 64;
    private static final short CUBIN_KIND = 2;

    private static WindowAccess window() {
        return window(SIZE);
    }

    private static WindowAccess window(long bytes) {
        return (WindowAccess) Proxy.newProxyInstance(WindowAccess.class.getClassLoader(), new Class<?>[] {WindowAccess.class},
                (_, method, _) -> switch (method.getName()) {
                    case "baseAddress" -> BASE;
                    case "sizeBytes" -> bytes;
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }

    private static FencedImage fence(byte[] image) {
        return fence(image, 90, FencedArchitectures.RUN);
    }

    private static FencedImage fence(byte[] image, int sm, FencedArchitectures architectures) {
        return fence(image, sm, architectures, FencedLoops.OFF);
    }

    private static FencedImage fence(byte[] image, int sm, FencedArchitectures architectures, FencedLoops loops) {
        Target target = new Target(ComputeCapability.ofSm(sm), "compiler", true);
        return new MachineImages(target, window(), CodeCache.none(), () -> 0, architectures, loops).fence(ProgramSource.of(ModuleImage.of(image)),
                WORD,
                STOP, 5);
    }

    private static byte[] fatBinary(int architecture, byte[]... cubins) {
        int bytes = Arrays.stream(cubins).mapToInt(cubin -> ENTRY_HEAD + cubin.length).sum();
        ByteBuffer image = ByteBuffer.allocate(HEAD + bytes).order(ByteOrder.LITTLE_ENDIAN);
        image.putInt(0, 0xBA55ED50).putShort(4, (short) 1).putShort(6, (short) HEAD).putLong(8, bytes);
        int at = HEAD;
        for (byte[] cubin : cubins) {
            image.putShort(at, CUBIN_KIND).putInt(at + 4, ENTRY_HEAD).putLong(at + 8, cubin.length).putInt(at + 28, architecture);
            image.put(at + ENTRY_HEAD, cubin);
            at += ENTRY_HEAD + cubin.length;
        }
        return image.array();
    }

    @Test
    void aCubinIsFencedForTheTenantsWindow() throws Exception {
        FencedImage fenced = fence(SampleCubins.full(CUDA_13));
        assertNotNull(fenced);
        assertEquals(2, fenced.kernels());
        assertEquals(Map.of(), fenced.refused());
        assertEquals(Map.of(), CubinVerifier.verify(fenced.code(), MachineFence.of(BASE, SIZE).reporting(WORD, 5)));
        assertEquals(3, CubinVerifier.verify(fenced.code(), MachineFence.of(BASE + SIZE, SIZE)).size(), "for no other window");
    }

    @Test
    void theSameIsMadeForTheFirst4GiBOfALargerWindow() throws Exception {
        ProgramSource source = ProgramSource.of(ModuleImage.of(SampleCubins.full(CUDA_13)));
        FencedImage narrow = images(window()).narrow(source, WORD, STOP, 5).maker().get();
        assertEquals(Map.of(), CubinVerifier.verify(narrow.code(), MachineFence.of(BASE, WindowLayout.MIN_SIZE_BYTES).reporting(WORD, 5)));
        assertEquals(fence(SampleCubins.full(CUDA_13)).hash(), narrow.hash());
        assertNull(images(window(WindowLayout.MIN_SIZE_BYTES)).narrow(source, WORD, STOP, 5), "the window has no more");
        assertNull(images(window()).narrow(ProgramSource.of(ModuleImage.of(new byte[64])), WORD, STOP, 5), "nothing that can be told");
    }

    private static MachineImages images(WindowAccess window) {
        return new MachineImages(new Target(ComputeCapability.ofSm(90), "compiler", true), window, CodeCache.none(), () -> 0, FencedArchitectures.RUN,
                FencedLoops.OFF);
    }

    /** Addresses of unknown code are aligned, those of vendors' code are not. */
    @Test
    void addressesAreAlignedButForVendorsCode() {
        byte[] cubin = CubinBuilder.of("k", new CodeWords().load(12, 2).exit()).build();
        Target target = new Target(ComputeCapability.ofSm(90), "compiler", true);
        FencedImage vendors = new MachineImages(target, window(), CodeCache.none(), () -> 0, FencedArchitectures.RUN, FencedLoops.OFF, _ -> true)
                .fence(ProgramSource.of(ModuleImage.of(cubin)), WORD, STOP, 5);
        assertEquals(1, roundings(fence(cubin)));
        assertEquals(0, roundings(vendors));
        assertEquals(Map.of(), fence(cubin).misaligned());
    }

    /** Returns how many instructions clear the lowest two bits of R2. */
    private static long roundings(FencedImage image) {
        ByteBuffer code = ByteBuffer.wrap(image.code()).order(ByteOrder.LITTLE_ENDIAN);
        return IntStream.range(0, code.limit() / Long.BYTES).filter(i -> code.getLong(i * Long.BYTES) == 0xfffffffc02027812L).count();
    }

    @Test
    void theCodeOfAFatBinaryIsTakenThatADriverTakes() {
        byte[] cubin = SampleCubins.full(CUDA_13);
        assertNotNull(fence(fatBinary(90, cubin)));
        assertNull(fence(fatBinary(80, cubin)), "the device does not run it");
        assertNull(fence(fatBinary(90, cubin, cubin)), "nobody tells which of two the driver takes");
    }

    /** {@code TLD}: what has a texture has no fence. */
    private static final long TEXTURE = 0x00000000ff007f66L;
    private static final int CALL = 0x4b;

    @Test
    void kernelsHaveTheReasonsOfTheFunctionsThatTheyCall() {
        CodeWords calls = new CodeWords().callSymbol().exit();
        byte[] cubin = CubinBuilder.of("plain", new CodeWords().load(12, 2).exit()).kernel("returns", 29, calls).kernel("samples", 29, calls)
                .function("f", 29, new CodeWords().returnBy(20))
                .function("g", 29, new CodeWords().add(TEXTURE, 0x000e220000000000L | 1L << 27).returnBy(20))
                .relocation("returns", 0, CALL, 4, 0).relocation("samples", 0, CALL, 5, 0).build();
        FencedImage fenced = fence(cubin);
        assertEquals(3, fenced.kernels());
        assertEquals(Set.of("samples"), fenced.refused().keySet());
        assertTrue(fenced.refused().get("samples").startsWith("function g has no fence: a TLD"), fenced.refused().toString());
        assertEquals(Set.of("returns"), fenced.trusted().keySet());
        assertTrue(fenced.trusted().get("returns").startsWith("function f, which it may call, has a RET by a register"), fenced.trusted().toString());
    }

    /** However it is packed: trust is in what is loaded. */
    @Test
    void theHashIsOfTheCubinThatIsFenced() {
        byte[] cubin = SampleCubins.full(CUDA_13);
        String hash = ModuleImage.of(cubin).hash();
        assertEquals(hash, fence(cubin).hash());
        assertEquals(hash, fence(fatBinary(90, cubin)).hash());
        assertNotEquals(hash, fence(fatBinary(90, Arrays.copyOf(cubin, cubin.length + 64))).hash(), "all bytes that are read count");
    }

    /** A GPU of sm_86 or sm_89 runs code for sm_80, too. */
    @Test
    void onGpusOnWhichFencedCodeWasNeverRunItIsFencedOnRequest() throws Exception {
        byte[] cubin = SampleCubins.full(CUDA_13, Architecture.SM_80);
        for (int sm : new int[] {80, 86, 89}) {
            assertNull(fence(fatBinary(80, cubin), sm, FencedArchitectures.RUN), "sm_" + sm);
            FencedImage fenced = fence(fatBinary(80, cubin), sm, FencedArchitectures.KNOWN);
            assertEquals(Map.of(), fenced.refused());
            assertEquals(Map.of(), CubinVerifier.verify(fenced.code(), MachineFence.of(BASE, SIZE).reporting(WORD, 5)));
        }
        assertNotNull(fence(SampleCubins.full(CUDA_13), 90, FencedArchitectures.KNOWN));
        assertNull(fence(fatBinary(80, cubin), 87, FencedArchitectures.KNOWN), "nothing is known of sm_87");
    }

    /** Waits for a word in memory. */
    private static byte[] spinning(int sm) {
        CodeWords code = new CodeWords(Architecture.of(sm)).load(4, 2).compare(0, 4, 5).branch(0).under(0).store(2, 4).exit();
        return new CubinBuilder(CUDA_13, sm).kernel("spins", 26, code).build();
    }

    private static Map<String, String> endless(FencedImage fenced) throws Exception {
        MachineFence fence = MachineFence.of(BASE, SIZE).reporting(WORD, 5).looking(STOP);
        return CubinVerifier.inspect(fenced.code(), fence).mayBeEndless();
    }

    @Test
    void loopsLookAtTheStopWordUnlessThatIsOff() throws Exception {
        FencedImage looking = fence(spinning(90), 90, FencedArchitectures.RUN, FencedLoops.LOOK);
        assertTrue(looking.looks());
        assertEquals(Map.of(), looking.endless());
        assertEquals(Map.of(), endless(looking));
        FencedImage off = fence(spinning(90), 90, FencedArchitectures.RUN, FencedLoops.OFF);
        assertFalse(off.looks());
        assertEquals(Map.of(), off.endless(), "nothing is counted where no loop looks");
        assertEquals(Set.of("spins"), endless(off).keySet());
        assertEquals(looking.refused(), off.refused());
    }

    /** The effect of a look was seen on sm_90 alone. */
    @Test
    void onOtherGpusLoopsDoNotLook() throws Exception {
        FencedImage fenced = fence(spinning(80), 80, FencedArchitectures.KNOWN, FencedLoops.LOOK);
        assertEquals(Map.of(), fenced.refused());
        assertFalse(fenced.looks());
        assertEquals(Map.of(), fenced.endless(), "nothing is counted where no loop looks");
        assertArrayEquals(fence(spinning(80), 80, FencedArchitectures.KNOWN, FencedLoops.OFF).code(), fenced.code());
    }

    @Test
    void whatIsDamagedStaysAsItIs() {
        byte[] cubin = SampleCubins.full(CUDA_13);
        assertNull(fence(Arrays.copyOf(cubin, 200)));
        cubin[0x12] = 3; // the machine's number
        assertNull(fence(cubin));
        assertNull(fence(new byte[0]));
    }
}

package io.tessera.guardian.image;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.PtxVersion;
import io.tessera.guardian.ptx.parse.PtxParser;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Fat binaries of nvcc 13.0, made from vectors.cu beside them. */
@Timeout(180)
class FatBinaryTest {
    private static final Path FOLDER = Path.of("src/test/resources/images");
    private static final ComputeCapability HOPPER = new ComputeCapability(9, 0);
    private static final long CAP = ModuleImage.DEFAULT_CAP_BYTES;

    static byte[] bytes(String name) throws IOException {
        return Files.readAllBytes(FOLDER.resolve(name));
    }

    private static List<String> ptxFor(int major, int minor) throws Exception {
        return ModuleImage.of(bytes("zstd.fatbin")).fatBinary().ptxFor(new ComputeCapability(major, minor)).stream()
                .map(e -> e.capability().sm() + e.specificity().suffix()).toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"zstd", "lz4", "plain", "options"})
    void ptxIsUnpackedWhateverItsPacking(String name) throws Exception {
        byte[] text = ModuleImage.of(bytes(name + ".fatbin")).ptx(HOPPER, CAP);
        PtxModule module = PtxParser.parse(text);
        assertTrue(module.entry("add").isPresent());
        assertTrue(module.entry("scale").isPresent());
    }

    @ParameterizedTest
    @ValueSource(strings = {"zstd", "lz4", "plain", "options"})
    void whoeverUnpacksItElsewhereGetsTheSameText(String name) throws Exception {
        ModuleImage image = ModuleImage.of(bytes(name + ".fatbin"));
        byte[] alone = image.ptxImage(HOPPER, CAP);
        assertTrue(alone.length <= image.bytes().byteSize());
        assertArrayEquals(image.ptx(HOPPER, CAP), ModuleImage.of(alone).ptx(HOPPER, CAP));
        assertEquals(1, ModuleImage.of(alone).fatBinary().entries().size());
        assertThrows(ImageException.class, () -> image.ptxImage(HOPPER, 10));
        byte[] text = image.ptx(HOPPER, CAP);
        assertArrayEquals(text, ModuleImage.of(text).ptxImage(HOPPER, CAP));
    }

    /** 2 GB of headers alone would be more objects than there is memory for. */
    @Test
    void aFatBinaryOfNothingButHeadersIsRefused() {
        int entries = 70_000;
        ByteBuffer image = ByteBuffer.allocate(16 + entries * 64).order(ByteOrder.LITTLE_ENDIAN);
        image.putInt(ImageKind.FAT_BINARY_MAGIC).putShort((short) 1).putShort((short) 16).putLong(entries * 64L);
        for (int i = 0; i < entries; i++) {
            image.putShort(image.position(), (short) 1).putInt(image.position() + 4, 64).position(image.position() + 64);
        }
        ImageException refused = assertThrows(ImageException.class, () -> ModuleImage.of(image.array()).fatBinary());
        assertTrue(refused.getMessage().contains("entries"), refused.getMessage());
    }

    @Test
    void entriesSayWhatTheyAre() throws Exception {
        List<FatBinaryEntry> entries = ModuleImage.of(bytes("zstd.fatbin")).fatBinary().entries();
        assertEquals(List.of("PTX 75", "CUBIN 90", "PTX 90", "PTX 90a", "PTX 100f"), entries.stream()
                .map(e -> e.kind() + " " + e.capability().sm() + e.specificity().suffix()).toList());
        assertEquals(Optional.of(new PtxVersion(9, 0)), entries.getFirst().ptxVersion());
        assertEquals(Optional.empty(), entries.get(1).ptxVersion());
        assertEquals(List.of(Compression.ZSTD, Compression.NONE), entries.stream().limit(2)
                .map(FatBinaryEntry::compression).toList());
        assertEquals(1470, entries.getFirst().unpackedBytes());
        // The final NUL is not part of the text.
        assertEquals(1469, entries.getFirst().unpack(CAP).length);
        assertEquals(ImageKind.CUBIN, ModuleImage.of(entries.get(1).unpack(CAP)).kind());
        assertEquals(Compression.LZ4, ModuleImage.of(bytes("lz4.fatbin")).fatBinary().entries().getFirst().compression());
    }

    @Test
    void machineCodeForANewerGpuThanThePtxIsAheadOfIt() throws Exception {
        List<FatBinaryEntry> entries = ModuleImage.of(bytes("zstd.fatbin")).fatBinary().entries();
        assertEquals(Optional.empty(), new FatBinary(entries).codeAheadOfPtx(HOPPER), "there is PTX for 9.0a");
        FatBinary older = new FatBinary(List.of(entries.get(0), entries.get(1)));
        assertEquals(Optional.of("its PTX is for sm_75, its machine code for sm_90: they need not be the same program"),
                older.codeAheadOfPtx(HOPPER));
        assertEquals(Optional.empty(), older.codeAheadOfPtx(new ComputeCapability(8, 9)), "it does not run there");
        assertEquals(Optional.empty(), new FatBinary(List.of(entries.get(1), entries.get(2))).codeAheadOfPtx(HOPPER));
        assertEquals(Optional.empty(), new FatBinary(List.of(entries.get(1))).codeAheadOfPtx(HOPPER), "there is no PTX");
    }

    @Test
    void packingsHoldTheSameText() throws Exception {
        String plain = new String(ModuleImage.of(bytes("plain.fatbin")).ptx(HOPPER, CAP), StandardCharsets.UTF_8);
        String packed = new String(ModuleImage.of(bytes("lz4.fatbin")).ptx(HOPPER, CAP), StandardCharsets.UTF_8);
        assertEquals(plain.strip(), packed.strip());
        assertTrue(packed.contains(".target sm_75"));
    }

    @Test
    void namesAndOptionsOfTheCompiler() throws Exception {
        FatBinaryEntry entry = ModuleImage.of(bytes("options.fatbin")).fatBinary().entries().getFirst();
        assertEquals("vectors.cu", entry.name());
        assertEquals("-maxrregcount=32 --generate-line-info", entry.options());
        FatBinaryEntry without = ModuleImage.of(bytes("plain.fatbin")).fatBinary().entries().getFirst();
        assertEquals("", without.name() + without.options());
    }

    @Test
    void theBestPtxIsTheNearestAndMostSpecific() throws Exception {
        assertEquals(List.of("90a", "90", "75"), ptxFor(9, 0));
        assertEquals(List.of("75"), ptxFor(8, 9));
        assertEquals(List.of("100f", "90", "75"), ptxFor(10, 3));
        assertEquals(List.of("90", "75"), ptxFor(12, 0));
        assertEquals(List.of(), ptxFor(7, 0));
    }

    @Test
    void codeForAGpuIsPtxOrItsOwnMachineCode() throws Exception {
        FatBinary several = ModuleImage.of(bytes("zstd.fatbin")).fatBinary();
        assertTrue(several.hasCodeFor(HOPPER));
        assertEquals(List.of(false, true), List.of(several.hasCodeFor(new ComputeCapability(7, 0)),
                several.hasCodeFor(new ComputeCapability(12, 1))));
        FatBinary machineCode = new FatBinary(several.entries().stream()
                .filter(entry -> entry.kind() == FatBinaryEntry.Kind.CUBIN).toList());
        assertTrue(machineCode.hasCodeFor(HOPPER));
        assertEquals(List.of(false, false), List.of(machineCode.hasCodeFor(new ComputeCapability(8, 9)),
                machineCode.hasCodeFor(new ComputeCapability(10, 0))));
    }

    @Test
    void whatIsMissingIsNamed() throws Exception {
        ModuleImage image = ModuleImage.of(bytes("zstd.fatbin"));
        String none = assertThrows(ImageException.class, () -> image.ptx(new ComputeCapability(7, 0), CAP))
                .getMessage();
        assertEquals("no PTX for capability 7.0 in the fat binary; it has PTX sm_75, CUBIN sm_90, PTX sm_90, "
                + "PTX sm_90a, PTX sm_100f", none);
        assertThrows(ImageException.class, () -> ModuleImage.of(bytes("vectors.cubin")).ptx(HOPPER, CAP));
        FatBinaryEntry lto = ModuleImage.of(bytes("lto.fatbin")).fatBinary().entries().getFirst();
        assertEquals(FatBinaryEntry.Kind.LTO_IR, lto.kind());
        assertThrows(ImageException.class, () -> lto.unpack(CAP));
    }

    @Test
    void kindsAreSeenByTheFirstBytes() throws Exception {
        assertEquals(ImageKind.FAT_BINARY, ModuleImage.of(bytes("zstd.fatbin")).kind());
        assertEquals(ImageKind.CUBIN, ModuleImage.of(bytes("vectors.cubin")).kind());
        assertEquals(ImageKind.LTO_IR, ModuleImage.of(new byte[] {(byte) 0xED, 0x43, 0x4E, 0x7F}).kind());
        String[][] texts = {{"PTX", ".version 9.0"}, {"PTX", "\n\n // x\n /* .target\n * */\t.version 9.0"},
                {"UNKNOWN", "// .version 9.0"}, {"UNKNOWN", "/*/ .version 9.0"}, {"UNKNOWN", ""}, {"UNKNOWN", ".vers"},
                {"UNKNOWN", "/"}, {"UNKNOWN", "/* "}};
        for (String[] pair : texts) {
            assertEquals(ImageKind.valueOf(pair[0]), ModuleImage.of(pair[1].getBytes(StandardCharsets.US_ASCII)).kind(),
                    pair[1]);
        }
        byte[] text = ".version 9.0\n\0rest".getBytes(StandardCharsets.US_ASCII);
        assertArrayEquals(Arrays.copyOf(text, 13), ModuleImage.of(text).ptx(HOPPER, CAP));
        assertThrows(ImageException.class, () -> ModuleImage.of(text).ptx(HOPPER, 12));
    }

    @Test
    void theCapIsKept() throws Exception {
        for (String name : List.of("zstd.fatbin", "lz4.fatbin", "plain.fatbin")) {
            FatBinaryEntry entry = ModuleImage.of(bytes(name)).fatBinary().entries().getFirst();
            assertThrows(ImageException.class, () -> entry.unpack(entry.unpackedBytes() - 1));
            entry.unpack(entry.unpackedBytes());
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 1469, 1471, 100_000, 1L << 31, -1, Long.MIN_VALUE})
    void aWrongSizeIsRefused(long declared) throws Exception {
        for (String name : List.of("zstd.fatbin", "lz4.fatbin")) {
            byte[] image = bytes(name);
            ByteBuffer.wrap(image).order(ByteOrder.LITTLE_ENDIAN).putLong(16 + 56, declared);
            FatBinaryEntry entry = ModuleImage.of(image).fatBinary().entries().getFirst();
            assertThrows(ImageException.class, () -> entry.unpack(CAP), name);
        }
    }

    @Test
    void lengthsThatLeaveTheBytesAreRefused() throws Exception {
        byte[] image = bytes("zstd.fatbin");
        for (int length = 0; length < image.length; length += 7) {
            byte[] cut = Arrays.copyOf(image, length);
            assertThrows(ImageException.class, () -> ModuleImage.of(cut).fatBinary(), "cut to " + length);
        }
        long[][] fields = {{8, -1}, {8, image.length}, {16 + 8, -1}, {16 + 8, 1L << 40}, {16 + 8, image.length}};
        for (long[] field : fields) {
            byte[] changed = image.clone();
            ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN).putLong((int) field[0], field[1]);
            assertThrows(ImageException.class, () -> ModuleImage.of(changed).fatBinary(), Arrays.toString(field));
        }
    }
}

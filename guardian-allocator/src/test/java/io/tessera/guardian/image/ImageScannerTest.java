package io.tessera.guardian.image;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.airlift.compress.v3.zstd.ZstdJavaCompressor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Images in files that are put together here from those of nvcc. */
@Timeout(180)
class ImageScannerTest {
    private static final int HEADER = 64;

    private static List<String> scan(byte[] file) {
        return ImageScanner.scan(MemorySegment.ofArray(file)).stream()
                .map(image -> image.kind() + " " + image.where() + " " + image.offset() + " " + image.sizeBytes()).toList();
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** A 64-bit ELF file with these sections, one after the other from byte 64 on, each aligned to 8. */
    private static byte[] elf(Map<String, byte[]> sections) {
        StringBuilder names = new StringBuilder("\0");
        int at = HEADER;
        ByteArrayOutputStream table = new ByteArrayOutputStream();
        ByteArrayOutputStream contents = new ByteArrayOutputStream();
        table.writeBytes(new byte[HEADER]);
        Map<String, byte[]> all = new LinkedHashMap<>(sections);
        sections.keySet().forEach(name -> names.append(name).append('\0'));
        all.put(".shstrtab", text(names + ".shstrtab\0"));
        int nameAt = 1;
        for (Map.Entry<String, byte[]> section : all.entrySet()) {
            byte[] padded = Arrays.copyOf(section.getValue(), (section.getValue().length + 7) / 8 * 8);
            table.writeBytes(ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN).putInt(nameAt).putInt(1).putLong(2)
                    .putLong(0).putLong(at).putLong(section.getValue().length).array());
            nameAt += section.getKey().length() + 1;
            contents.writeBytes(padded);
            at += padded.length;
        }
        ByteBuffer header = ByteBuffer.allocate(HEADER).order(ByteOrder.LITTLE_ENDIAN);
        header.putInt(ImageKind.ELF_MAGIC).put((byte) 2).put((byte) 1).put((byte) 1).position(16);
        header.putShort((short) 3).putShort((short) 62).putInt(1).putLong(0).putLong(0).putLong(at).putInt(0)
                .putShort((short) 64).putShort((short) 0).putShort((short) 0).putShort((short) 64)
                .putShort((short) all.size()).putShort((short) (all.size() - 1));
        // The last section is the names'; the first entry of a table is empty, so it is counted too.
        header.putShort(60, (short) (all.size() + 1)).putShort(62, (short) all.size());
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        file.writeBytes(header.array());
        file.writeBytes(contents.toByteArray());
        file.writeBytes(table.toByteArray());
        return file.toByteArray();
    }

    private static byte[] joined(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    @Test
    void aFileMayBeOneImage() throws IOException {
        for (String name : List.of("zstd.fatbin", "lz4.fatbin")) {
            byte[] file = FatBinaryTest.bytes(name);
            assertEquals(List.of("FAT_BINARY file 0 " + file.length), scan(file));
        }
        byte[] cubin = FatBinaryTest.bytes("vectors.cubin");
        assertEquals(List.of("CUBIN file 0 " + cubin.length), scan(cubin));
        assertEquals(List.of("PTX file 0 26"), scan(text("// x\n.version 9.0\n.target ")));
        assertEquals(List.of(), scan(new byte[0]));
        assertEquals(List.of(), scan(text("#!/bin/sh\n")));
    }

    @Test
    void sectionsOfALibraryHoldSeveral() throws Exception {
        byte[] zstd = FatBinaryTest.bytes("zstd.fatbin");
        byte[] plain = FatBinaryTest.bytes("plain.fatbin");
        Map<String, byte[]> sections = new LinkedHashMap<>();
        sections.put(".text", new byte[100]);
        sections.put(".nv_fatbin", joined(zstd, new byte[24], plain));
        sections.put("__nv_relfatbin", plain);
        byte[] file = elf(sections);
        int first = HEADER + 104;
        int second = first + zstd.length + 24;
        List<FoundImage> found = ImageScanner.scan(MemorySegment.ofArray(file));
        assertEquals(List.of(".nv_fatbin", ".nv_fatbin", "__nv_relfatbin"),
                found.stream().map(FoundImage::where).toList());
        assertEquals(List.of((long) first, (long) second), found.stream().limit(2).map(FoundImage::offset).toList());
        assertArrayEquals(zstd, found.getFirst().bytes());
        assertArrayEquals(plain, found.get(1).bytes());
        // Taking the section table away hides nothing.
        Arrays.fill(file, 40, 64, (byte) 0);
        assertEquals(List.of("data", "data", "data"),
                ImageScanner.scan(MemorySegment.ofArray(file)).stream().map(FoundImage::where).toList());
    }

    @Test
    void archivesAlignTheirMembersToTwoBytes() throws Exception {
        byte[] object = elf(Map.of(".nv_fatbin", FatBinaryTest.bytes("lz4.fatbin")));
        String header = String.format("%-16s%-12s%-6s%-6s%-8s%-10d`\n", "k.o/", 0, 0, 0, 644, object.length);
        String odd = String.format("%-16s%-12s%-6s%-6s%-8s%-10d`\n", "x/", 0, 0, 0, 644, 5);
        byte[] archive = joined(text("!<arch>\n"), text(odd), text("hello\n"), text(header), object);
        List<FoundImage> found = ImageScanner.scan(MemorySegment.ofArray(archive));
        assertEquals(List.of("k.o:.nv_fatbin"), found.stream().map(FoundImage::where).toList());
        assertArrayEquals(FatBinaryTest.bytes("lz4.fatbin"), found.getFirst().bytes());
    }

    @Test
    void cubinsAndPtxThatAProgramLoadsItselfAreFound() throws Exception {
        byte[] cubin = FatBinaryTest.bytes("vectors.cubin");
        String ptx = "//\n// made\n//\n\n.version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n";
        String format = ".version %d.%d\n.target sm_%d\n.entry k() {}";
        Map<String, byte[]> sections = new LinkedHashMap<>();
        sections.put(".rodata", joined(cubin, new byte[9], text("x\0" + ptx + "\0"), text(format + "\0"),
                text("the directive .version is first\0")));
        List<FoundImage> found = ImageScanner.scan(MemorySegment.ofArray(elf(sections)));
        assertEquals(List.of("CUBIN", "PTX"), found.stream().map(image -> image.kind().name()).toList());
        assertArrayEquals(cubin, Arrays.copyOf(found.getFirst().bytes(), cubin.length));
        assertArrayEquals(text(ptx), found.get(1).bytes());
    }

    @Test
    void cubinsThatALibraryUnpacksItselfAreFound() throws Exception {
        byte[] cubin = FatBinaryTest.bytes("vectors.cubin");
        byte[] packed = zstd(cubin);
        byte[] ptx = text(".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n");
        byte[] other = zstd(text("a text of more than sixty-four bytes, in which there is nothing at all to be loaded"));
        Map<String, byte[]> sections = new LinkedHashMap<>();
        sections.put(".ldata", joined(packed, new byte[packed.length % 2 + 6], other, new byte[other.length % 2], zstd(ptx)));
        List<FoundImage> found = ImageScanner.scan(MemorySegment.ofArray(elf(sections)));
        assertEquals(List.of("CUBIN .ldata, zstd " + HEADER, "PTX .ldata, zstd"), found.stream().map(image -> image.kind() + " "
                + image.where() + (image.kind() == ImageKind.CUBIN ? " " + image.offset() : "")).toList());
        assertEquals(packed.length, found.getFirst().sizeBytes());
        assertArrayEquals(cubin, found.getFirst().bytes());
        assertEquals(ModuleImage.of(cubin).hash(), found.getFirst().image().hash());
        assertArrayEquals(ptx, found.get(1).image().ptx(new ComputeCapability(9, 0), ModuleImage.DEFAULT_CAP_BYTES));
    }

    @Test
    void aFrameEndsWhereItsCompressorEnded() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int size : new int[] {1, 64, 255, 256, 300, 65_535, 65_792, 70_000, 1 << 20}) {
            byte[] contents = new byte[size];
            random.nextBytes(contents);
            if (random.nextBoolean()) {
                Arrays.fill(contents, size / 3, size, (byte) 7); // runs
            }
            byte[] frame = zstd(contents);
            byte[] behind = joined(new byte[6], frame, new byte[] {1, 2, 3, 4, 5});
            assertEquals(new ZstdFrame(frame.length, size), ZstdFrame.at(MemorySegment.ofArray(behind), 6), "seed " + seed + ", " + size);
            byte[] cut = Arrays.copyOf(frame, frame.length - 1);
            assertNull(ZstdFrame.at(MemorySegment.ofArray(cut), 0), "seed " + seed + ", " + size);
        }
        assertNull(ZstdFrame.at(MemorySegment.ofArray(new byte[20]), 4));
    }

    private static byte[] zstd(byte[] contents) {
        ZstdJavaCompressor compressor = new ZstdJavaCompressor();
        byte[] packed = new byte[compressor.maxCompressedLength(contents.length)];
        return Arrays.copyOf(packed, compressor.compress(contents, 0, contents.length, packed, 0, packed.length));
    }

    @Test
    void nothingElseIsTakenForAnImageAndDamageNeverThrows() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        byte[] noise = new byte[1 << 20];
        random.nextBytes(noise);
        assertEquals(List.of(), scan(noise), "seed " + seed);
        Map<String, byte[]> sections = new LinkedHashMap<>();
        sections.put(".ldata", zstd(FatBinaryTest.bytes("vectors.cubin")));
        sections.put(".nv_fatbin", FatBinaryTest.bytes("zstd.fatbin"));
        byte[] file = elf(sections);
        for (int i = 0; i < 2000; i++) {
            byte[] damaged = Arrays.copyOf(file, 1 + random.nextInt(file.length));
            for (int j = random.nextInt(4); j >= 0; j--) {
                damaged[random.nextInt(Math.min(damaged.length, 400))] ^= (byte) (1 << random.nextInt(8));
            }
            try {
                for (FoundImage image : ImageScanner.scan(MemorySegment.ofArray(damaged))) {
                    assertTrue(image.offset() + image.sizeBytes() <= damaged.length);
                }
            } catch (RuntimeException e) {
                throw new AssertionError("seed " + seed + ", round " + i, e);
            }
        }
    }

    @Test
    void theExtentOfAnImageIsWhatItDeclares() throws Exception {
        byte[] fatBinary = FatBinaryTest.bytes("zstd.fatbin");
        assertEquals(fatBinary.length, ImageExtent.of(MemorySegment.ofArray(Arrays.copyOf(fatBinary, fatBinary.length + 50))));
        assertEquals(100, ImageExtent.of(MemorySegment.ofArray(Arrays.copyOf(fatBinary, 100))));
        assertEquals(12, ImageExtent.of(MemorySegment.ofArray(text(".version 9.0\0rest"))));
        assertEquals(5, ImageExtent.of(MemorySegment.ofArray(new byte[5])));
    }
}

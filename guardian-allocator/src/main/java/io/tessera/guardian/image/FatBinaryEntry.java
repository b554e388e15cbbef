package io.tessera.guardian.image;

import io.tessera.guardian.ptx.PtxVersion;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/**
 * One image in a fat binary. Refers to the fat binary's bytes and unpacks them on demand. Immutable as long as nobody
 * writes to those bytes.
 */
public final class FatBinaryEntry {
    /** Bytes of a fat binary before its first entry. */
    static final int FILE_HEADER_BYTES = 16;
    /** Contents of an entry. */
    public enum Kind {
        /** PTX text. */
        PTX,
        /** Machine code. */
        CUBIN,
        /** Intermediate code for link-time optimisation. */
        LTO_IR,
        /** A kind that this class does not know; see {@link #kindNumber}. */
        UNKNOWN
    }

    /** Shortest header: what every entry has. */
    static final int SHORTEST_HEADER = 64;
    private static final int DEBUG = 0x2;
    private static final int LZ4 = 0x2000;
    private static final int ZSTD = 0x8000;
    /** Set in LTO-IR entries of nvcc 13.0, whose bytes are then no zstd frame. */
    private static final int SCRAMBLED = 0x10000;
    private static final int ARCHITECTURE = 0x100000;
    private static final int FAMILY = 0x200000;
    private static final int MOST_SHOWN = 4096;

    private final MemorySegment image;
    private final int headerAt;
    private final int headerBytes;
    private final int storedBytes;
    private final int compressedBytes;
    private final long unpackedBytes;
    private final long flags;

    /** Checks the header at an offset of a fat binary that ends at {@code end}. */
    FatBinaryEntry(MemorySegment image, int headerAt, int end) throws ImageException {
        this.image = image;
        this.headerAt = headerAt;
        if (end - headerAt < SHORTEST_HEADER) {
            throw new ImageException("entry at " + headerAt + " has " + (end - headerAt) + " bytes of a header of "
                    + SHORTEST_HEADER);
        }
        Bytes bytes = new Bytes(image);
        long header = bytes.u32(headerAt + 4) & 0xFFFFFFFFL;
        long stored = bytes.u64(headerAt + 8);
        if (header < SHORTEST_HEADER || header > end - headerAt) {
            throw new ImageException("entry at " + headerAt + " declares a header of " + header + " bytes");
        }
        if (stored < 0 || stored > end - headerAt - header) {
            throw new ImageException("entry at " + headerAt + " declares " + Long.toUnsignedString(stored)
                    + " bytes, " + (end - headerAt - header) + " are there");
        }
        headerBytes = (int) header;
        storedBytes = (int) stored;
        flags = bytes.u64(headerAt + 40);
        long compressed = bytes.u32(headerAt + 16) & 0xFFFFFFFFL;
        if (compression() != Compression.NONE && compressed > stored) {
            throw new ImageException("entry at " + headerAt + " declares " + compressed + " compressed bytes in "
                    + stored);
        }
        compressedBytes = (int) compressed;
        unpackedBytes = bytes.u64(headerAt + 56);
        if ((flags & LZ4) != 0 && (flags & ZSTD) != 0) {
            throw new ImageException("entry at " + headerAt + " is marked as LZ4 and as zstd");
        }
    }

    /** Returns the start of the next entry. */
    int end() {
        return headerAt + headerBytes + storedBytes;
    }

    /** Returns the kind of its contents. */
    public Kind kind() {
        return switch (kindNumber()) {
            case 1 -> Kind.PTX;
            case 2 -> Kind.CUBIN;
            case 8 -> Kind.LTO_IR;
            default -> Kind.UNKNOWN;
        };
    }

    /** The number in the header that says what it holds. */
    public int kindNumber() {
        return new Bytes(image).u16(headerAt);
    }

    /** The GPU that it was made for. */
    public ComputeCapability capability() {
        return ComputeCapability.ofSm(new Bytes(image).u32(headerAt + 28) & 0xFFFF);
    }

    /** Returns which other GPUs can run it. */
    public Specificity specificity() {
        return (flags & ARCHITECTURE) != 0 ? Specificity.ARCHITECTURE
                : (flags & FAMILY) != 0 ? Specificity.FAMILY : Specificity.BASELINE;
    }

    /** Returns the target as users write it: {@code sm_90a}. */
    public String madeFor() {
        return "sm_" + capability().sm() + specificity().suffix();
    }

    /**
     * Returns whether it is code other than PTX for a GPU. Machine code runs on its own generation, from its variant on, or only on its own variant.
     */
    boolean codeRunsOn(ComputeCapability gpu) {
        return switch (kind()) {
            case CUBIN -> specificity() == Specificity.ARCHITECTURE ? capability().equals(gpu)
                    : capability().major() == gpu.major() && capability().minor() <= gpu.minor();
            case LTO_IR -> capability().compareTo(gpu) <= 0;
            case PTX, UNKNOWN -> false;
        };
    }

    /** Returns how it is compressed. */
    public Compression compression() {
        return (flags & ZSTD) != 0 ? Compression.ZSTD : (flags & LZ4) != 0 ? Compression.LZ4 : Compression.NONE;
    }

    /** Version of its PTX, as the header declares it; empty for other kinds. */
    public Optional<PtxVersion> ptxVersion() {
        int packed = new Bytes(image).u32(headerAt + 24);
        return kind() == Kind.PTX ? Optional.of(new PtxVersion(packed >>> 16, packed & 0xFFFF)) : Optional.empty();
    }

    /** All flags of the header. */
    public long flags() {
        return flags;
    }

    /** Returns whether it was compiled for debugging. */
    public boolean isDebug() {
        return (flags & DEBUG) != 0;
    }

    /** Name of the source, where the compiler left one (it does with {@code -g} and {@code -lineinfo}); else empty. */
    public String name() {
        Bytes bytes = new Bytes(image);
        return text(bytes.u32(headerAt + 32) & 0xFFFFFFFFL, bytes.u32(headerAt + 36) & 0xFFFFFFFFL);
    }

    /** Returns the options for the assembler ({@code -O1 -maxrregcount=32}); empty if there are none or the bytes are not text. */
    public String options() {
        long block = new Bytes(image).u32(headerAt + 20) & 0xFFFFFFFFL;
        if (kind() == Kind.CUBIN || block < SHORTEST_HEADER || block + 8 > headerBytes) {
            return "";
        }
        Bytes bytes = new Bytes(image);
        int at = headerAt + (int) block;
        return text(bytes.u32(at) & 0xFFFFFFFFL, bytes.u32(at + 4) & 0xFFFFFFFFL);
    }

    /** Returns text from the header; the offset counts from the header's start. Text that does not lie inside is ignored. */
    private String text(long offset, long length) {
        if (offset < SHORTEST_HEADER || offset > headerBytes || length > headerBytes - offset || length > MOST_SHOWN) {
            return "";
        }
        return new String(image.asSlice(headerAt + offset, length).toArray(ValueLayout.JAVA_BYTE),
                StandardCharsets.ISO_8859_1).strip();
    }

    /** Bytes that it takes in the fat binary without its header, padding included. */
    public int storedBytes() {
        return storedBytes;
    }

    /** Bytes that it says it unpacks to; what is stored, where it is not packed. */
    public long unpackedBytes() {
        return compression() == Compression.NONE ? storedBytes : unpackedBytes;
    }

    /** Returns its contents in place, padding included; null if they are compressed or in an unknown form. */
    public MemorySegment plain() {
        return compression() == Compression.NONE && (flags & SCRAMBLED) == 0
                ? image.asSlice((long) headerAt + headerBytes, storedBytes) : null;
    }

    /**
     * Its contents in a new array; of PTX, without what follows the text's end.
     *
     * @param capBytes refuses what says that it is larger; allocates no more than this
     * @throws ImageException if it is larger, malformed, or packed in a way that is not known
     */
    public byte[] unpack(long capBytes) throws ImageException {
        if ((flags & SCRAMBLED) != 0) {
            throw new ImageException("entry at " + headerAt + " (" + kind() + ") is stored in a form that is not known");
        }
        long size = unpackedBytes();
        if (size < 0 || size > Math.min(capBytes, Integer.MAX_VALUE - 8)) {
            throw new ImageException("entry at " + headerAt + " says it unpacks to " + Long.toUnsignedString(size)
                    + " bytes, allowed are " + capBytes);
        }
        int from = headerAt + headerBytes;
        byte[] contents = compression() == Compression.NONE
                ? image.asSlice(from, storedBytes).toArray(ValueLayout.JAVA_BYTE)
                : compression().unpack(image.asSlice(from, compressedBytes), (int) size);
        return kind() == Kind.PTX ? withoutPadding(contents) : contents;
    }

    /** A fat binary of this entry alone, packed as it is, in a new array. */
    public byte[] alone() {
        int bytes = headerBytes + storedBytes;
        ByteBuffer alone = ByteBuffer.allocate(FILE_HEADER_BYTES + bytes).order(ByteOrder.LITTLE_ENDIAN);
        alone.putInt(ImageKind.FAT_BINARY_MAGIC).putShort((short) 1).putShort((short) FILE_HEADER_BYTES).putLong(bytes);
        alone.put(image.asSlice(headerAt, bytes).asByteBuffer());
        return alone.array();
    }

    private static byte[] withoutPadding(byte[] text) {
        int length = 0;
        while (length < text.length && text[length] != 0) {
            length++;
        }
        return length == text.length ? text : Arrays.copyOf(text, length);
    }

    @Override
    public String toString() {
        return kind() + " for " + madeFor() + ", " + compression() + ", "
                + storedBytes + " bytes";
    }
}

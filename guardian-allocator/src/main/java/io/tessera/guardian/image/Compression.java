package io.tessera.guardian.image;

import io.airlift.compress.v3.MalformedInputException;
import io.airlift.compress.v3.lz4.Lz4JavaDecompressor;
import io.airlift.compress.v3.zstd.ZstdJavaDecompressor;
import java.lang.foreign.MemorySegment;

/** Compression of an entry of a fat binary (measured with nvcc 13.0: zstd by default, LZ4 for {@code speed}). */
public enum Compression {
    /** Not compressed. */
    NONE,
    /** One LZ4 block. */
    LZ4,
    /** One zstd frame. */
    ZSTD;

    /** A byte of an LZ4 block stands for at most this many bytes (LZ4 block format: run lengths come in steps of 255). */
    private static final long LZ4_HIGHEST_RATIO = 255;
    private static final int LZ4_SLACK = 64;

    /**
     * Unpacks into an array of exactly the declared size.
     *
     * @throws ImageException if the bytes are malformed or have another size than declared
     */
    byte[] unpack(MemorySegment packed, int unpackedBytes) throws ImageException {
        long length = packed.byteSize();
        if (this == LZ4 && unpackedBytes > length * LZ4_HIGHEST_RATIO + LZ4_SLACK) {
            throw new ImageException(length + " bytes of LZ4 cannot unpack to " + unpackedBytes);
        }
        if (this != NONE && unpackedBytes == 0) {
            throw new ImageException(length + " packed bytes of " + this + " are declared to be nothing"); // the decompressors take that for done
        }
        byte[] out = new byte[unpackedBytes];
        int written;
        try {
            // A new decompressor for each call, because these objects are not thread-safe. The Java versions are used, as the native ones leave a
            // library in /tmp when their JVM is killed.
            written = switch (this) {
                case LZ4 -> new Lz4JavaDecompressor().decompress(packed, MemorySegment.ofArray(out));
                case ZSTD -> new ZstdJavaDecompressor().decompress(packed, MemorySegment.ofArray(out));
                case NONE -> throw new IllegalStateException("nothing to unpack");
            };
        } catch (MalformedInputException | IllegalArgumentException | IndexOutOfBoundsException e) {
            throw new ImageException(this + " entry does not unpack to " + unpackedBytes + " bytes: "
                    + e.getMessage(), e);
        }
        if (written != unpackedBytes) {
            throw new ImageException(this + " entry unpacks to " + written + " bytes, not to the declared "
                    + unpackedBytes);
        }
        return out;
    }
}

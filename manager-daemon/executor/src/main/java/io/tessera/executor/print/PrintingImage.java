package io.tessera.executor.print;

import io.tessera.guardian.image.FatBinary;
import io.tessera.guardian.image.FatBinaryEntry;
import io.tessera.guardian.image.ImageException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/** Whether kernels of a module image can print: they name {@code vprintf}, in PTX as in a cubin. Stateless. */
public final class PrintingImage {
    private static final int FAT_BINARY = 0xBA55ED50;
    private static final int WRAPPER = 0x466243b1;
    private static final byte[] SYMBOL = "vprintf".getBytes(StandardCharsets.US_ASCII);
    /** Longer entries are not unpacked for this: a client then waits for text that does not come, and loses little. */
    private static final long MOST_UNPACKED_BYTES = 64L << 20;

    private PrintingImage() {
    }

    /** Looks into an image as it travels (RELAY.md, section 8), which is whole; true where it cannot be read. */
    public static boolean prints(MemorySegment image) {
        int magic = image.byteSize() < 2 * Long.BYTES ? 0 : image.get(ValueLayout.JAVA_INT_UNALIGNED, 0);
        return switch (magic) {
            case WRAPPER -> ofWrapper(image);
            case FAT_BINARY -> ofFatBinary(image);
            default -> names(image);
        };
    }

    private static boolean ofWrapper(MemorySegment image) {
        long count = image.get(ValueLayout.JAVA_LONG_UNALIGNED, Long.BYTES);
        for (long i = 0; i < count; i++) {
            long offset = image.get(ValueLayout.JAVA_LONG_UNALIGNED, (2 + i) * Long.BYTES);
            if (ofFatBinary(image.asSlice(offset))) {
                return true;
            }
        }
        return false;
    }

    private static boolean ofFatBinary(MemorySegment image) {
        try {
            FatBinary parsed = FatBinary.parse(image.toArray(ValueLayout.JAVA_BYTE));
            FatBinaryEntry least = null; // all are made of one source, so that the shortest speaks for all
            for (FatBinaryEntry entry : parsed.entries()) {
                boolean readable = entry.kind() == FatBinaryEntry.Kind.PTX || entry.kind() == FatBinaryEntry.Kind.CUBIN;
                if (readable && (least == null || entry.unpackedBytes() < least.unpackedBytes())) {
                    least = entry;
                }
            }
            return least == null || names(MemorySegment.ofArray(least.unpack(MOST_UNPACKED_BYTES)));
        } catch (ImageException e) {
            return true;
        }
    }

    private static boolean names(MemorySegment image) {
        byte first = SYMBOL[0];
        long end = image.byteSize() - SYMBOL.length;
        for (long at = 0; at <= end; at++) {
            if (image.get(ValueLayout.JAVA_BYTE, at) == first && isSymbol(image, at)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isSymbol(MemorySegment image, long at) {
        for (int i = 1; i < SYMBOL.length; i++) {
            if (image.get(ValueLayout.JAVA_BYTE, at + i) != SYMBOL[i]) {
                return false;
            }
        }
        return true;
    }
}

package io.tessera.executor.print;

import io.tessera.guardian.image.FatBinaryEntry;
import io.tessera.guardian.image.ImageException;
import io.tessera.guardian.image.ImageKind;
import io.tessera.guardian.image.ModuleImage;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/** Whether kernels of a module image can print: they name {@code vprintf}, in PTX as in a cubin. Stateless. */
public final class PrintingImage {
    private static final byte[] SYMBOL = "vprintf".getBytes(StandardCharsets.US_ASCII);
    /** Longer entries are not unpacked for this: a client then waits for text that does not come, and loses little. */
    private static final long MOST_UNPACKED_BYTES = 64L << 20;

    private PrintingImage() {
    }

    /** Looks into an image; true where it cannot be read. Takes milliseconds for megabytes. */
    public static boolean prints(ModuleImage image) {
        return image.kind() == ImageKind.FAT_BINARY ? ofFatBinary(image) : names(image.bytes());
    }

    private static boolean ofFatBinary(ModuleImage image) {
        try {
            FatBinaryEntry least = null; // all are made of one source, so that the shortest speaks for all
            for (FatBinaryEntry entry : image.fatBinary().entries()) {
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

package io.tessera.executor.print;

import io.tessera.guardian.image.FatBinaryEntry;
import io.tessera.guardian.image.ImageException;
import io.tessera.guardian.image.ImageKind;
import io.tessera.guardian.image.ModuleImage;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Tests whether kernels of a module image can print: they name {@code vprintf}, in PTX as in a cubin. Stateless. */
public final class PrintingImage {
    private static final byte[] SYMBOL = "vprintf".getBytes(StandardCharsets.US_ASCII);
    private static final int[] SHIFTS = shifts();
    /** Longer entries are not unpacked for this check: a client then waits for text that does not come, at little cost. */
    private static final long MOST_UNPACKED_BYTES = 16L << 20;
    /** Lock for unpacking: only one client at a time, to bound the use of the heap. */
    private static final Object UNPACKING = new Object();

    private PrintingImage() {
    }

    /** Examines an image; true if it cannot be read. Takes milliseconds for megabytes. */
    public static boolean prints(ModuleImage image) {
        return image.kind() == ImageKind.FAT_BINARY ? ofFatBinary(image) : names(image.bytes());
    }

    private static boolean ofFatBinary(ModuleImage image) {
        try {
            FatBinaryEntry least = null; // all are made from one source, so the shortest one is enough
            for (FatBinaryEntry entry : image.fatBinary().entries()) {
                boolean readable = entry.kind() == FatBinaryEntry.Kind.PTX || entry.kind() == FatBinaryEntry.Kind.CUBIN;
                if (readable && (least == null || entry.unpackedBytes() < least.unpackedBytes())) {
                    least = entry;
                }
            }
            if (least == null) {
                return true;
            }
            MemorySegment plain = least.plain();
            if (plain != null) {
                return names(plain);
            }
            synchronized (UNPACKING) {
                return names(MemorySegment.ofArray(least.unpack(MOST_UNPACKED_BYTES)));
            }
        } catch (ImageException e) {
            return true;
        }
    }

    /** Examines the last byte of each place where the symbol may be, and skips as many places as that byte allows. */
    private static boolean names(MemorySegment image) {
        int last = SYMBOL.length - 1;
        for (long at = last; at < image.byteSize();) {
            byte found = image.get(ValueLayout.JAVA_BYTE, at);
            if (found == SYMBOL[last] && isSymbol(image, at - last)) {
                return true;
            }
            at += SHIFTS[found & 0xff];
        }
        return false;
    }

    private static boolean isSymbol(MemorySegment image, long at) {
        for (int i = 0; i < SYMBOL.length - 1; i++) {
            if (image.get(ValueLayout.JAVA_BYTE, at + i) != SYMBOL[i]) {
                return false;
            }
        }
        return true;
    }

    /** Returns by the byte at the last place the distance to the next place where it would fit (Horspool, 1980). */
    private static int[] shifts() {
        int[] shifts = new int[256];
        Arrays.fill(shifts, SYMBOL.length);
        for (int i = 0; i < SYMBOL.length - 1; i++) {
            shifts[SYMBOL[i] & 0xff] = SYMBOL.length - 1 - i;
        }
        return shifts;
    }
}

package io.tessera.guardian.fence;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.IntToLongFunction;

/**
 * Whether a launch keeps to the terms of a kernel's second entry, where the places of its parameters are known. What is looked at has to be
 * what the device will read: bytes that no client can still change. Immutable; allocates nothing when it is asked.
 */
public final class LaunchCheck {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final CheckedEntry entry;
    private final long[] numbersAt;
    private final long[] pointersAt;
    private final long end;

    /**
     * A check of an entry's launches.
     *
     * @param entry   the terms
     * @param offsets where a parameter starts among the packed ones, in bytes, by its index; below 0 if nobody knows, then no launch keeps to
     *                terms of it
     */
    public LaunchCheck(CheckedEntry entry, IntToLongFunction offsets) {
        this.entry = entry;
        numbersAt = entry.numbers().stream().mapToLong(number -> place(offsets, number.parameter(), number.offsetBytes())).toArray();
        pointersAt = entry.pointers().stream().mapToLong(pointer -> place(offsets, pointer.parameter(), pointer.offsetBytes())).toArray();
        long last = 0;
        for (int i = 0; i < numbersAt.length; i++) {
            last = Math.max(last, end(numbersAt[i], entry.numbers().get(i).bits() / Byte.SIZE));
        }
        for (long at : pointersAt) {
            last = Math.max(last, end(at, Long.BYTES));
        }
        end = last;
    }

    private static long place(IntToLongFunction offsets, int parameter, long offset) {
        long at = offsets.applyAsLong(parameter);
        return at < 0 || offset < 0 || at > Integer.MAX_VALUE || offset > Integer.MAX_VALUE ? -1 : at + offset;
    }

    private static long end(long at, int bytes) {
        return at < 0 ? Long.MAX_VALUE : at + bytes;
    }

    /** Name of the entry. */
    public String entry() {
        return entry.entry();
    }

    /** Name of the one for few blocks, or empty. */
    public String few() {
        return entry.few();
    }

    /**
     * Whether a launch keeps to the terms.
     *
     * @param gridX       blocks in x, as an unsigned number
     * @param blockX      threads of a block in x
     * @param blockY      threads of a block in y
     * @param parameters  packed, as the device will get them
     * @param bytes       their length
     * @param base        first address of the tenant's window
     * @param windowBytes its length
     */
    public boolean admits(int gridX, int blockX, int blockY, MemorySegment parameters, long bytes, long base, long windowBytes) {
        if (end > bytes || exceeds(gridX, entry.gridX()) || exceeds(blockX, entry.blockX()) || exceeds(blockY, entry.blockY())) {
            return false;
        }
        List<CheckedEntry.Pointer> pointers = entry.pointers();
        for (int i = 0; i < pointersAt.length; i++) {
            long address = parameters.get(LONG, pointersAt[i]);
            boolean inside = Long.compareUnsigned(address - base, windowBytes) < 0;
            if (!inside || (address & pointers.get(i).alignmentBytes() - 1) != 0) {
                return false;
            }
        }
        List<CheckedEntry.Number> numbers = entry.numbers();
        for (int i = 0; i < numbersAt.length; i++) {
            CheckedEntry.Number number = numbers.get(i);
            long value = number.bits() == Long.SIZE ? parameters.get(LONG, numbersAt[i])
                    : Integer.toUnsignedLong(parameters.get(INT, numbersAt[i]));
            if (Long.compareUnsigned(value, number.most()) > 0) {
                return false;
            }
        }
        return true;
    }

    private static boolean exceeds(int value, long most) {
        return most > 0 && Integer.toUnsignedLong(value) > most;
    }
}

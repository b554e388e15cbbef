package io.tessera.software.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Accesses to real addresses, without any check: a wrong address ends the process, so callers ask {@link MemoryMap}
 * first. Plain accesses give no order; the atomic ones are atomic against each other across host threads and need
 * natural alignment. Little-endian, as PTX is. Thread-safe.
 */
public final class RealMemory {
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle ATOMIC_INT = ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();
    private static final VarHandle ATOMIC_LONG = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();
    private static final VarHandle ATOMIC_SHORT = ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

    /**
     * Bytes that are copied or set at once. The JVM can stop a thread between two pieces, but not in one: a thread that waits for all
     * others to stop, as the collector does, waits for a piece (4 GiB of memory that was never touched take seconds, 1 MiB less than a
     * millisecond).
     */
    private static final long PIECE_BYTES = 1L << 20;

    private RealMemory() {
    }

    /** A byte, sign-extended. */
    public static byte getByte(long address) {
        return ALL.get(ValueLayout.JAVA_BYTE, address);
    }

    /** Two bytes. */
    public static short getShort(long address) {
        return ALL.get(SHORT, address);
    }

    /** Four bytes. */
    public static int getInt(long address) {
        return ALL.get(INT, address);
    }

    /** Eight bytes. */
    public static long getLong(long address) {
        return ALL.get(LONG, address);
    }

    /** Stores a byte. */
    public static void putByte(long address, byte value) {
        ALL.set(ValueLayout.JAVA_BYTE, address, value);
    }

    /** Stores two bytes. */
    public static void putShort(long address, short value) {
        ALL.set(SHORT, address, value);
    }

    /** Stores four bytes. */
    public static void putInt(long address, int value) {
        ALL.set(INT, address, value);
    }

    /** Stores eight bytes. */
    public static void putLong(long address, long value) {
        ALL.set(LONG, address, value);
    }

    /** Two bytes, with the order of a volatile read. */
    public static short getShortVolatile(long address) {
        return (short) ATOMIC_SHORT.getVolatile(ALL, address);
    }

    /** Four bytes, with the order of a volatile read. */
    public static int getIntVolatile(long address) {
        return (int) ATOMIC_INT.getVolatile(ALL, address);
    }

    /** Eight bytes, with the order of a volatile read. */
    public static long getLongVolatile(long address) {
        return (long) ATOMIC_LONG.getVolatile(ALL, address);
    }

    /** Stores two bytes with the order of a volatile write. */
    public static void putShortVolatile(long address, short value) {
        ATOMIC_SHORT.setVolatile(ALL, address, value);
    }

    /** Stores four bytes with the order of a volatile write. */
    public static void putIntVolatile(long address, int value) {
        ATOMIC_INT.setVolatile(ALL, address, value);
    }

    /** Stores eight bytes with the order of a volatile write. */
    public static void putLongVolatile(long address, long value) {
        ATOMIC_LONG.setVolatile(ALL, address, value);
    }

    /** Compares and exchanges four bytes; returns what was there. */
    public static int compareAndExchangeInt(long address, int expected, int value) {
        return (int) ATOMIC_INT.compareAndExchange(ALL, address, expected, value);
    }

    /** Compares and exchanges eight bytes; returns what was there. */
    public static long compareAndExchangeLong(long address, long expected, long value) {
        return (long) ATOMIC_LONG.compareAndExchange(ALL, address, expected, value);
    }

    /** Adds to four bytes; returns what was there. */
    public static int getAndAddInt(long address, int value) {
        return (int) ATOMIC_INT.getAndAdd(ALL, address, value);
    }

    /** Adds to eight bytes; returns what was there. */
    public static long getAndAddLong(long address, long value) {
        return (long) ATOMIC_LONG.getAndAdd(ALL, address, value);
    }

    /** Exchanges four bytes; returns what was there. */
    public static int getAndSetInt(long address, int value) {
        return (int) ATOMIC_INT.getAndSet(ALL, address, value);
    }

    /** Exchanges eight bytes; returns what was there. */
    public static long getAndSetLong(long address, long value) {
        return (long) ATOMIC_LONG.getAndSet(ALL, address, value);
    }

    /** Compares and exchanges two bytes by way of the four that hold them; returns what was there. */
    public static short compareAndExchangeShort(long address, short expected, short value) {
        long word = address & ~3L;
        int shift = (int) (address & 2) * 8;
        int mask = 0xFFFF << shift;
        while (true) {
            int seen = getIntVolatile(word);
            short there = (short) (seen >>> shift);
            if (there != expected) {
                return there;
            }
            int next = seen & ~mask | (value & 0xFFFF) << shift;
            if (compareAndExchangeInt(word, seen, next) == seen) {
                return there;
            }
        }
    }

    /** A full fence between this thread's accesses before it and those after it. */
    public static void fence() {
        VarHandle.fullFence();
    }

    /** Copies bytes between real addresses; the ranges may overlap. */
    public static void copy(long from, long to, long bytes) {
        boolean backwards = to > from && to - from < bytes; // the end is read before it is written over
        for (long done = 0; done < bytes;) {
            long piece = Math.min(PIECE_BYTES, bytes - done);
            long at = backwards ? bytes - done - piece : done;
            MemorySegment.copy(ALL, from + at, ALL, to + at, piece);
            done += piece;
        }
    }

    /** Copies a Java array to a real address. */
    public static void put(long to, byte[] bytes) {
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, ALL, to, bytes.length);
    }

    /** Copies from a real address into a new Java array. */
    public static byte[] get(long from, int bytes) {
        byte[] copy = new byte[bytes];
        MemorySegment.copy(ALL, from, MemorySegment.ofArray(copy), 0, bytes);
        return copy;
    }

    /** Sets bytes. */
    public static void fill(long address, long bytes, byte value) {
        for (long done = 0; done < bytes; done += PIECE_BYTES) {
            ALL.asSlice(address + done, Math.min(PIECE_BYTES, bytes - done)).fill(value);
        }
    }
}

package io.tessera.software.driver.abi;

import io.tessera.software.memory.RealMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;

/**
 * The process's own memory by address. The caller vouches for the addresses: a wrong one ends the process, as it
 * would end a C program. Plain accesses need no alignment; the ordered ones need the word's.
 */
public final class HostMemory {
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private HostMemory() {
    }

    /** Reads a byte. */
    public static byte getByte(long address) {
        return ALL.get(ValueLayout.JAVA_BYTE, address);
    }

    /** Reads 16 bits. */
    public static short getShort(long address) {
        return ALL.get(ValueLayout.JAVA_SHORT_UNALIGNED, address);
    }

    /** Reads 32 bits. */
    public static int getInt(long address) {
        return ALL.get(ValueLayout.JAVA_INT_UNALIGNED, address);
    }

    /** Reads 64 bits. */
    public static long getLong(long address) {
        return ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, address);
    }

    /** Reads a float. */
    public static float getFloat(long address) {
        return ALL.get(ValueLayout.JAVA_FLOAT_UNALIGNED, address);
    }

    /** Writes a byte. */
    public static void putByte(long address, byte value) {
        ALL.set(ValueLayout.JAVA_BYTE, address, value);
    }

    /** Writes 16 bits. */
    public static void putShort(long address, short value) {
        ALL.set(ValueLayout.JAVA_SHORT_UNALIGNED, address, value);
    }

    /** Writes 32 bits. */
    public static void putInt(long address, int value) {
        ALL.set(ValueLayout.JAVA_INT_UNALIGNED, address, value);
    }

    /** Writes 64 bits. */
    public static void putLong(long address, long value) {
        ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, address, value);
    }

    /** Writes a float. */
    public static void putFloat(long address, float value) {
        ALL.set(ValueLayout.JAVA_FLOAT_UNALIGNED, address, value);
    }

    /** Reads an aligned 32-bit word that another thread or process may write. */
    public static int loadInt(long address) {
        return (int) INT.getVolatile(ALL, address);
    }

    /** Reads an aligned 64-bit word that another thread or process may write. */
    public static long loadLong(long address) {
        return (long) LONG.getVolatile(ALL, address);
    }

    /** Writes an aligned 32-bit word after everything written before. */
    public static void storeInt(long address, int value) {
        INT.setVolatile(ALL, address, value);
    }

    /** Writes an aligned 64-bit word after everything written before. */
    public static void storeLong(long address, long value) {
        LONG.setVolatile(ALL, address, value);
    }

    /** Copies bytes; the ranges may overlap. */
    public static void copy(long source, long target, long bytes) {
        RealMemory.copy(source, target, bytes);
    }

    /** Fills bytes. */
    public static void fill(long address, long bytes, byte value) {
        RealMemory.fill(address, bytes, value);
    }

    /** Copies Java bytes out. */
    public static void put(long address, byte[] bytes, int count) {
        MemorySegment.copy(bytes, 0, ALL, ValueLayout.JAVA_BYTE, address, count);
    }

    /** Copies bytes in. */
    public static byte[] get(long address, long bytes) {
        return ALL.asSlice(address, bytes).toArray(ValueLayout.JAVA_BYTE);
    }

    /** Reads a string that ends with a zero byte. */
    public static String string(long address) {
        return ALL.getString(address, StandardCharsets.UTF_8);
    }

    /** Writes a string and its zero byte, cut to fit a capacity of at least one byte. */
    public static void putString(long address, String text, long capacity) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int count = (int) Math.min(bytes.length, capacity - 1);
        put(address, bytes, count);
        putByte(address + count, (byte) 0);
    }

    /** A view of a range, for bulk work. */
    public static MemorySegment segment(long address, long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }
}

package io.tessera.protocol;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SequenceLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The integers and texts of segment and messages, and the ordered ways to read and write them.
 *
 * <p>Stateless. Ordered accesses need natural alignment, which every layout here has; a segment of the heap has it only
 * if it is a {@code long[]}.
 */
public final class WireTypes {
    /** 64 bits, little endian. */
    public static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
    /** 32 bits, little endian. */
    public static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
    /** 16 bits, little endian. */
    public static final ValueLayout.OfShort U16 = ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN);

    private static final VarHandle LONG = U64.varHandle();
    private static final VarHandle INT = U32.varHandle();

    private WireTypes() {
    }

    /** A field of {@code count} bytes: text, UUID or padding. */
    public static SequenceLayout bytes(long count, String name) {
        return MemoryLayout.sequenceLayout(count, ValueLayout.JAVA_BYTE).withName(name);
    }

    /** Reads a word that publishes other words of its writer. */
    public static long getAcquire(MemorySegment segment, long offset) {
        return (long) LONG.getAcquire(segment, offset);
    }

    /** Writes a word after everything that was written before it. */
    public static void setRelease(MemorySegment segment, long offset, long value) {
        LONG.setRelease(segment, offset, value);
    }

    /** Reads a word in the total order of all such reads and writes. */
    public static long getVolatile(MemorySegment segment, long offset) {
        return (long) LONG.getVolatile(segment, offset);
    }

    /** Writes a word in the total order of all such reads and writes. */
    public static void setVolatile(MemorySegment segment, long offset, long value) {
        LONG.setVolatile(segment, offset, value);
    }

    /** Reads a counter that changes meanwhile: never torn, unordered relative to others. */
    public static long getOpaque(MemorySegment segment, long offset) {
        return (long) LONG.getOpaque(segment, offset);
    }

    /** Writes a word whole, unordered relative to others. */
    public static void setOpaque(MemorySegment segment, long offset, long value) {
        LONG.setOpaque(segment, offset, value);
    }

    /** {@link #getAcquire} for 32 bits. */
    public static int getIntAcquire(MemorySegment segment, long offset) {
        return (int) INT.getAcquire(segment, offset);
    }

    /** {@link #setRelease} for 32 bits. */
    public static void setIntRelease(MemorySegment segment, long offset, int value) {
        INT.setRelease(segment, offset, value);
    }

    /** {@link #getOpaque} for 32 bits. */
    public static int getIntOpaque(MemorySegment segment, long offset) {
        return (int) INT.getOpaque(segment, offset);
    }

    /** {@link #setOpaque} for 32 bits. */
    public static void setIntOpaque(MemorySegment segment, long offset, int value) {
        INT.setOpaque(segment, offset, value);
    }

    /** Exchanges a word atomically and returns its former value. */
    public static int exchangeInt(MemorySegment segment, long offset, int value) {
        return (int) INT.getAndSet(segment, offset, value);
    }

    /** Changes a word atomically if it has the expected value; returns whether it had. */
    public static boolean compareAndSetInt(MemorySegment segment, long offset, int expected, int value) {
        return INT.compareAndSet(segment, offset, expected, value);
    }

    /** Changes a word atomically if it has the expected value; returns whether it had. */
    public static boolean compareAndSet(MemorySegment segment, long offset, long expected, long value) {
        return LONG.compareAndSet(segment, offset, expected, value);
    }

    /**
     * Reads a NUL-padded UTF-8 text of another process, as {@link #printable}; malformed UTF-8 becomes the replacement character.
     */
    public static String getText(MemorySegment segment, long offset, int capacity) {
        byte[] raw = segment.asSlice(offset, capacity).toArray(ValueLayout.JAVA_BYTE);
        int length = 0;
        while (length < capacity && raw[length] != 0) {
            length++;
        }
        return printable(new String(raw, 0, length, StandardCharsets.UTF_8));
    }

    /** Returns a text in its stored form: control characters become {@code ?}, because it appears in logs and terminals. */
    public static String printable(String text) {
        StringBuilder printable = new StringBuilder(text.length());
        text.codePoints().forEach(c -> printable.appendCodePoint(isUnprintable(c) ? '?' : c));
        return printable.toString();
    }

    /** Writes a text as UTF-8, cut to fit between characters, NUL-padded and with at least one NUL at its end. */
    public static void setText(MemorySegment segment, long offset, int capacity, String text) {
        byte[] padded = new byte[capacity];
        int length = 0;
        for (int i = 0; i < text.length();) {
            int codePoint = text.codePointAt(i);
            byte[] encoded = Character.toString(codePoint).getBytes(StandardCharsets.UTF_8);
            if (length + encoded.length > capacity - 1) {
                break;
            }
            System.arraycopy(encoded, 0, padded, length, encoded.length);
            length += encoded.length;
            i += Character.charCount(codePoint);
        }
        MemorySegment.copy(padded, 0, segment, ValueLayout.JAVA_BYTE, offset, capacity);
    }

    private static boolean isUnprintable(int codePoint) {
        int type = Character.getType(codePoint);
        return Character.isISOControl(codePoint) || type == Character.FORMAT || type == Character.LINE_SEPARATOR
                || type == Character.PARAGRAPH_SEPARATOR;
    }
}

package io.tessera.guardian.fence;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The bytes of {@code .visible .const .align 16 .b64 __tessera_window[8]}, by which fenced code knows its tenant's window.
 * The loader of a fenced module writes them before the first launch; the code reads them and cannot write them. Eight little-endian words:
 * <ol start="0">
 * <li>low half: the high 32 bits of the window's base; high half: for {@link FenceMode#MODULO} the window's size in units of
 * 4 GiB, otherwise that number minus 1 (the mask of the high word)
 * <li>base of the window
 * <li>size of the window in bytes
 * <li>for {@link FenceMode#MODULO} in the low half {@code floor((2^32 - 1) / (size / 4 GiB))}, else 0
 * <li>device address of the tenant's {@code ReportArea}, outside the window
 * <li>device address of the tenant's stop word: 32 bits, outside the window; threads that see 0 there end
 * <li>device address of the bitmap of the tenant's texture and surface objects, outside the window, or 0 if it has none:
 * bit {@code h & 31} of the 32-bit word {@code h >> 5} is set where {@code h}, the low 20 bits of an object's handle, is the
 * tenant's. {@link #HANDLE_BITMAP_BYTES} bytes
 * <li>the first word again
 * </ol>
 *
 * <p>Immutable.
 *
 * @param mode          mode of the module
 * @param base          base of the window, a multiple of 4 GiB; of its size too except for {@link FenceMode#MODULO}
 * @param sizeBytes     a multiple of 4 GiB; a power of two except for {@link FenceMode#MODULO}
 * @param reportArea    device address of {@code ReportArea.BYTES} bytes, aligned to 64
 * @param stopWord      device address of 4 bytes, aligned: {@link #GO_ON}, or 0 to end the tenant's kernels
 * @param handleBitmap  device address of {@link #HANDLE_BITMAP_BYTES} bytes, aligned to 4, or 0
 */
public record WindowConstants(FenceMode mode, long base, long sizeBytes, long reportArea, long stopWord,
        long handleBitmap) {
    /** Name of the constant in a fenced module. */
    public static final String NAME = "__tessera_window";
    /** Its size. */
    public static final int BYTES = 64;
    /** Prefix of every name that a fenced module adds. */
    public static final String PREFIX = "__tessera_";
    /** Bits of a texture or surface handle that index the device's table of descriptors (20 on every GPU since Kepler). */
    public static final int HANDLE_INDEX_BITS = 20;
    /** Size of the bitmap of handles. */
    public static final int HANDLE_BITMAP_BYTES = 1 << HANDLE_INDEX_BITS - 3;
    /** Windows are multiples of this, so that only the high word of an address has to be fenced. */
    public static final long UNIT_BYTES = 1L << 32;
    /**
     * Memory of the tenant has to be mapped this far on both sides of a window: fenced code adds offsets of less than this to an address
     * that is inside.
     */
    public static final long GUARD_BYTES = 40L << 30;

    /**
     * The stop word's value while kernels may go on: how often a thread goes round the smallest loops before it reads the word again. Large
     * enough that the read costs nothing, small enough that an endless loop ends within microseconds.
     */
    public static final int GO_ON = 4096;

    /** Offset of the words that the code reads: base and mask of the high word. */
    public static final int HIGH_WORDS = 0;
    public static final int RECIPROCAL = 24;
    public static final int REPORT_AREA = 32;
    public static final int STOP_WORD = 40;
    public static final int HANDLES = 48;
    /** The same words as at {@link #HIGH_WORDS}, for fences of pointers that are the same in all threads. */
    public static final int COMMON_HIGH_WORDS = 56;

    /** Checks what the code relies on. */
    public WindowConstants {
        boolean powerOfTwo = Long.bitCount(sizeBytes) == 1;
        if (sizeBytes <= 0 || sizeBytes % UNIT_BYTES != 0 || base % UNIT_BYTES != 0 || base < 0) {
            throw new IllegalArgumentException("window of " + sizeBytes + " bytes at 0x" + Long.toHexString(base)
                    + " is no multiple of 4 GiB");
        }
        if (mode != FenceMode.MODULO && (!powerOfTwo || (base & sizeBytes - 1) != 0)) {
            throw new IllegalArgumentException("window of " + sizeBytes + " bytes at 0x" + Long.toHexString(base)
                    + " is no power of two, or not aligned to its size");
        }
        if (reportArea % 64 != 0 || stopWord % 4 != 0 || handleBitmap % 4 != 0 || reportArea == 0 || stopWord == 0) {
            throw new IllegalArgumentException("report area, stop word or handle bitmap missing or not aligned");
        }
    }

    /** The bytes to write; the caller's own. */
    public byte[] bytes() {
        long units = sizeBytes / UNIT_BYTES;
        boolean modulo = mode == FenceMode.MODULO;
        ByteBuffer words = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
        words.putInt((int) (base >>> 32)).putInt((int) (modulo ? units : units - 1));
        words.putLong(base).putLong(sizeBytes).putLong(modulo ? 0xFFFF_FFFFL / units : 0);
        words.putLong(reportArea).putLong(stopWord).putLong(handleBitmap);
        words.putLong(words.getLong(HIGH_WORDS));
        return words.array();
    }
}

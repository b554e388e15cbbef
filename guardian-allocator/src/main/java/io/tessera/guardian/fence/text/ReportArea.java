package io.tessera.guardian.fence.text;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FencedModule;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Memory in which fenced code records the accesses and operations that it stopped: device-visible, outside the window, one area per
 * tenant, aligned to 64. Little-endian:
 * <pre>
 *   0  u32  violations so far; the first {@link #RECORDS} of them have a record, and once these are full it may stay
 *  64  records of 64 bytes:
 *      0  u32  kind, see {@link Kind#code()}; written last, 0 until the record is complete
 *      4  u32  number of the function in {@link FencedModule#functions()}
 *      8  u32  line of the instruction in the module's PTX before it was fenced
 *     12  u32  {@link FencedModule#id()}, which tells the tenant's modules apart
 *     16  u64  address of the access, or what the kind says
 *     24  u32  block x, y, z
 *     36  u32  thread x, y, z
 * </pre>
 *
 * <p>Each violation ends its thread. Threads that a stop word ends leave no record. To start over, the executor fills the area
 * with zeros while none of the tenant's kernels runs. Stateless.
 */
public final class ReportArea {
    /** Number of records. */
    public static final int RECORDS = 32;
    /** Size of a record, and of what stands before the first. */
    public static final int RECORD_BYTES = 64;
    /** Size of the area. */
    public static final int BYTES = RECORD_BYTES * (RECORDS + 1);

    static final int KIND = 0;
    static final int FUNCTION = 4;
    static final int LINE = 8;
    static final int MODULE = 12;
    static final int ADDRESS = 16;
    static final int BLOCK = 24;
    static final int THREAD = 36;

    /** Kind of an operation that was stopped. */
    public enum Kind {
        /** Access outside the window ({@link FenceMode#CHECK}). CUDA's error 700. */
        ADDRESS(1),
        /** Misaligned access ({@link FenceMode#CHECK}). 716. */
        MISALIGNED(2),
        /** {@code trap} or {@code brkpt}. 719. */
        TRAP(3),
        /** Assertion; the address is the index of its text in {@link FencedModule#assertTexts()}. 710. */
        ASSERT(4),
        /** Indirect call of an address that is not a function of that signature; the address is the called address. 718. */
        CALL_TARGET(5),
        /** Texture or surface object that is not the tenant's; the address is the handle. 700. */
        HANDLE(6),
        /** A device function with {@code .noreturn} that came back. 719. */
        RETURNED(7),
        /** Lanes that arrived at a barrier without the rest of their warp; the address is the mask of the arrived lanes. 719. */
        BARRIER(8),
        /** The device could not run the kernel to its end; written by a software GPU, never by fenced code. 719. */
        DEVICE(9);

        private final int code;

        Kind(int code) {
            this.code = code;
        }

        /** Its number in a record. */
        public int code() {
            return code;
        }

        private static Kind of(int code) {
            for (Kind kind : values()) {
                if (kind.code == code) {
                    return kind;
                }
            }
            return null;
        }
    }

    /**
     * One violation.
     *
     * @param kind     its kind
     * @param function number in {@link FencedModule#functions()}
     * @param line     line in the PTX
     * @param module   {@link FencedModule#id()}
     * @param address  address, or the value that the kind documents
     * @param block    x, y, z
     * @param thread   x, y, z
     */
    public record Violation(Kind kind, int function, int line, int module, long address, List<Integer> block,
            List<Integer> thread) {
        /** Copies the lists. */
        public Violation {
            block = List.copyOf(block);
            thread = List.copyOf(thread);
        }
    }

    private ReportArea() {
    }

    /** Returns the number of violations, as a lower bound: exact up to {@link #RECORDS}. */
    public static long count(ByteBuffer area) {
        return area.order(ByteOrder.LITTLE_ENDIAN).getInt(0) & 0xFFFF_FFFFL;
    }

    /**
     * The complete records, in order; a record of an unknown kind is passed over, since the area may be damaged.
     *
     * @param area {@link #BYTES} bytes from index 0; its byte order is set to little-endian
     */
    public static List<Violation> violations(ByteBuffer area) {
        List<Violation> found = new ArrayList<>();
        long records = Math.min(count(area), RECORDS);
        for (int i = 0; i < records; i++) {
            int at = RECORD_BYTES * (i + 1);
            Kind kind = Kind.of(area.getInt(at + KIND));
            if (kind != null) {
                found.add(new Violation(kind, area.getInt(at + FUNCTION), area.getInt(at + LINE),
                        area.getInt(at + MODULE), area.getLong(at + ADDRESS), triple(area, at + BLOCK),
                        triple(area, at + THREAD)));
            }
        }
        return found;
    }

    private static List<Integer> triple(ByteBuffer area, int at) {
        return List.of(area.getInt(at), area.getInt(at + 4), area.getInt(at + 8));
    }
}

package io.tessera.memory.residency;

import java.util.Locale;

/**
 * Whether clients of plan swap may have more memory in all, resident or not: their leases on a device never exceed what
 * the device and the host can hold together. Immutable, thread-safe.
 *
 * @param capacityBytes of the device
 * @param fixedBytes    used on the device by memory that cannot be moved
 * @param backingBytes  host memory and files that may hold what is moved out
 */
public record SwapAdmission(long capacityBytes, long fixedBytes, long backingBytes) {
    private static final double GIB = 1L << 30;

    /** What becomes of an ask. */
    public sealed interface Answer {
    }

    /** It may have it. */
    public record Admitted() implements Answer {
    }

    /**
     * Not now, but perhaps when others have freed memory.
     *
     * @param reason a sentence with the numbers
     */
    public record Waits(String reason) implements Answer {
    }

    /**
     * Not as long as the device and the budgets are what they are.
     *
     * @param reason a sentence with the numbers
     */
    public record Refused(String reason) implements Answer {
    }

    /** Checks that nothing is negative. */
    public SwapAdmission {
        if (capacityBytes < 0 || fixedBytes < 0 || backingBytes < 0) {
            throw new IllegalArgumentException("negative: " + capacityBytes + ", " + fixedBytes + ", " + backingBytes);
        }
    }

    /** What all clients of plan swap may have together. */
    public long leasableBytes() {
        return Math.max(0, capacityBytes - fixedBytes) + backingBytes;
    }

    /**
     * Judges an ask.
     *
     * @param leasedBytes     of all clients of plan swap on the device, the asking one's included
     * @param clientBytes     of these, the asking client's
     * @param guaranteedBytes what others' guarantees keep of the device
     * @param moreBytes       asked for beyond {@code clientBytes}
     */
    public Answer ask(long leasedBytes, long clientBytes, long guaranteedBytes, long moreBytes) {
        long ownLimitBytes = Math.max(0, capacityBytes - fixedBytes - guaranteedBytes);
        if (moreBytes > ownLimitBytes - clientBytes) {
            return new Refused(String.format(Locale.ROOT, "%.2f GiB and %.2f GiB more do not fit the device at once: "
                    + "%.2f GiB, less %.2f GiB in fixed use and %.2f GiB guaranteed to others", clientBytes / GIB,
                    moreBytes / GIB, capacityBytes / GIB, fixedBytes / GIB, guaranteedBytes / GIB));
        }
        if (moreBytes > leasableBytes() - leasedBytes) {
            return new Waits(String.format(Locale.ROOT, "%.2f GiB more exceed what is left: clients have %.2f GiB of the "
                    + "%.2f GiB that the device and %.2f GiB of backing on the host hold", moreBytes / GIB,
                    leasedBytes / GIB, leasableBytes() / GIB, backingBytes / GIB));
        }
        return new Admitted();
    }
}

package io.tessera.memory.residency;

import java.util.Locale;

/**
 * Decides whether clients of plan swap may have more memory in all, resident or not: their leases on a device never exceed what the device and the
 * host can hold together. Immutable, thread-safe.
 *
 * @param capacityBytes capacity of the device
 * @param fixedBytes    memory in use on the device that cannot be moved
 * @param backingBytes  host memory and files that may hold what is moved out
 */
public record SwapAdmission(long capacityBytes, long fixedBytes, long backingBytes) {
    private static final double GIB = 1L << 30;

    /** Decision on a request. */
    public sealed interface Answer {
    }

    /** The client may have the memory. */
    public record Admitted() implements Answer {
    }

    /**
     * The client has to wait: perhaps it may have the memory when others have freed some.
     *
     * @param reason a sentence with the numbers
     */
    public record Waits(String reason) implements Answer {
    }

    /**
     * The client cannot have the memory as long as the device and the budgets do not change.
     *
     * @param reason a sentence with the numbers
     */
    public record Refused(String reason) implements Answer {
    }

    /** Checks that no value is negative. */
    public SwapAdmission {
        if (capacityBytes < 0 || fixedBytes < 0 || backingBytes < 0) {
            throw new IllegalArgumentException("negative: " + capacityBytes + ", " + fixedBytes + ", " + backingBytes);
        }
    }

    /** Returns what all clients of plan swap may have together. */
    public long leasableBytes() {
        return Math.max(0, capacityBytes - fixedBytes) + backingBytes;
    }

    /**
     * Judges a request.
     *
     * @param leasedBytes     leases of all clients of plan swap on the device, including the asking one
     * @param clientBytes     the asking client's part of them
     * @param guaranteedBytes memory of the device that is kept for others' guarantees
     * @param moreBytes       bytes requested beyond {@code clientBytes}
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

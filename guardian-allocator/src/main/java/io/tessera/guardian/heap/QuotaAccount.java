package io.tessera.guardian.heap;

/** The quota of a heap and its use, in bytes. Counts exactly; its only decision is whether more is allowed. */
final class QuotaAccount {
    private final long granuleBytes;
    private long quotaBytes;

    /** Handed out, as rounded. */
    long roundedBytes;

    /** Physical memory in the range. */
    long committedBytes;

    /** Physical memory that the program made itself. */
    long chargedBytes;

    QuotaAccount(long granuleBytes, long quotaBytes) {
        this.granuleBytes = granuleBytes;
        change(quotaBytes);
    }

    void change(long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("a quota of " + bytes + " bytes");
        }
        quotaBytes = bytes;
    }

    long quotaBytes() {
        return quotaBytes;
    }

    /** The quota in whole granules, rounded up: a tenant gets what was promised to it. */
    private long bound() {
        long up = quotaBytes + granuleBytes - 1;
        return up < 0 ? Long.MAX_VALUE : up & -granuleBytes;
    }

    /** Returns whether this many more bytes may be allocated or charged. */
    boolean allows(long bytes) {
        return bytes <= bound() - roundedBytes - chargedBytes;
    }

    /** Physical memory that may still be added; below 0 after the quota shrank. */
    long room() {
        return bound() - committedBytes - chargedBytes;
    }
}

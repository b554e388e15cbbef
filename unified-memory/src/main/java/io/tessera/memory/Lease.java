package io.tessera.memory;

/**
 * The memory that one client may use on one device without asking. It is the ledger's view, which is never less than the client's. Not
 * thread-safe.
 *
 * <p>If an answer is sent while a trim is in transit, the client gets the trim first. It then gives memory back, and takes the answer's lease afterwards.
 * So its return is out of date when it arrives here. Such returns are counted and ignored.
 */
final class Lease {
    final long client;
    private long bytes;
    private boolean trimmed;
    private int overtakenReturns;

    Lease(long client, long bytes) {
        this.client = client;
        this.bytes = bytes;
    }

    long bytes() {
        return bytes;
    }

    /** Returns whether the client was asked to give memory back and has not answered. */
    boolean trimmed() {
        return trimmed;
    }

    void trim() {
        trimmed = true;
    }

    /** Records that the client is told that its lease is {@code newBytes}. */
    void told(long newBytes) {
        bytes = newBytes;
        if (trimmed) {
            trimmed = false;
            overtakenReturns++;
        }
    }

    /** Records that the client lowered its lease; returns whether that answers the present trim. */
    boolean returned(long loweredBytes) {
        if (overtakenReturns > 0) {
            overtakenReturns--;
            return false;
        }
        if (!trimmed) {
            return false;
        }
        trimmed = false;
        bytes = Math.min(bytes, loweredBytes);
        return true;
    }
}

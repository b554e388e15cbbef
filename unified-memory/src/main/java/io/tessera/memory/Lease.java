package io.tessera.memory;

/**
 * The memory that one client may use on one device without asking, as far as the ledger can know: never less than the client believes. Not
 * thread-safe.
 *
 * <p>An answer that is sent while a trim is on its way arrives after it. The client gives memory back first and takes the answer's lease afterwards,
 * so its return is out of date when it arrives. Such returns are counted and ignored.
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

    /** Returns whether it was asked to give back and has not answered. */
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

package io.tessera.memory;

/**
 * What one client may use on one device without asking, as far as the ledger can know: never less than the client
 * believes. Not thread-safe.
 *
 * <p>An answer sent while a trim is on its way overtakes the client's return in effect: the client gives back first
 * and takes the answer's lease afterwards, so the return that then arrives says nothing about the lease it has. Such
 * returns are counted and passed over.
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

    /** Asked to give back, and has not answered. */
    boolean trimmed() {
        return trimmed;
    }

    void trim() {
        trimmed = true;
    }

    /** The client is told that its lease is {@code newBytes}. */
    void told(long newBytes) {
        bytes = newBytes;
        if (trimmed) {
            trimmed = false;
            overtakenReturns++;
        }
    }

    /** The client says that it lowered its lease; returns whether that answers the present trim. */
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

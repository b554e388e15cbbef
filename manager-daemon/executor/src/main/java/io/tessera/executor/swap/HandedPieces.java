package io.tessera.executor.swap;

import java.util.ArrayDeque;
import java.util.function.LongConsumer;

/**
 * Pieces of device memory that one tenant has left and another one is about to take: neither has to wait for the driver, which clears what it releases. They
 * hold contents of the tenant that left: who takes one writes all of it before a kernel of the taking tenant can run. Thread-safe.
 */
public final class HandedPieces {
    /** An allocation handle and its size. */
    private record Handed(long handle, long bytes) {
    }

    private final ArrayDeque<Handed> pieces = new ArrayDeque<>();
    private volatile long bytes;
    private long takenBytes;

    /** Hands a piece on; takes over its handle. */
    public synchronized void give(long handle, long pieceBytes) {
        pieces.addLast(new Handed(handle, pieceBytes));
        bytes += pieceBytes;
    }

    /** Takes a piece of this size; returns its handle, 0: there is none. */
    public synchronized long take(long pieceBytes) {
        Handed first = pieces.peekFirst();
        if (first == null || first.bytes != pieceBytes) {
            return 0;
        }
        pieces.removeFirst();
        bytes -= pieceBytes;
        takenBytes += pieceBytes;
        return first.handle;
    }

    /** Returns the bytes of all pieces that wait to be taken: one read, for busy threads. */
    public long bytes() {
        return bytes;
    }

    /** Returns the bytes that were taken so far. */
    public synchronized long takenBytes() {
        return takenBytes;
    }

    /**
     * Removes all pieces that wait to be taken, so that the driver can use their memory for anything.
     *
     * @param release releases a handle
     */
    public void clear(LongConsumer release) {
        for (Handed piece = poll(); piece != null; piece = poll()) {
            release.accept(piece.handle);
        }
    }

    private synchronized Handed poll() {
        Handed piece = pieces.pollFirst();
        bytes -= piece == null ? 0 : piece.bytes;
        return piece;
    }
}

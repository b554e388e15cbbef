package io.tessera.executor.call;

import io.tessera.executor.driver.CudaResult;
import io.tessera.protocol.relay.RelayLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * In-data of a call that came ahead of it in pieces, for each reply slot one at a time. Grows as pieces come, so that a
 * client pays for what it sends with what it sent. One owner thread.
 */
final class BulkData implements AutoCloseable {
    private static final long FIRST_BYTES = 1L << 20;

    /** Of all slots together: as much as two calls carry. */
    private static final long MOST_BYTES = 2 * RelayLayout.BULK_MAX;

    private long total;
    private final Piece[] pieces = new Piece[RelayLayout.SLOTS + 1];

    /** What has come for one slot; the arena owns the memory. */
    private static final class Piece {
        Arena arena;
        MemorySegment memory;
        long bytes;
    }

    /**
     * Adds a piece.
     *
     * @param slot   reply slot + 1, or 0; valid
     * @param offset what has come so far, as the client counts
     * @throws RejectedException if it is not what has come, or is more than one call carries; all of it is forgotten
     */
    void append(int slot, long offset, MemorySegment from, long at, int bytes) throws RejectedException {
        Piece piece = pieces[slot];
        if (piece != null && offset == 0 && piece.bytes != 0) {
            drop(slot); // a call that never followed: its thread died
            piece = null;
        }
        if (piece == null) {
            piece = new Piece();
            pieces[slot] = piece;
        }
        if (offset != piece.bytes || offset + bytes > RelayLayout.BULK_MAX) {
            drop(slot);
            throw new RejectedException(CudaResult.INVALID_VALUE, "a piece at " + offset + " of a call's data");
        }
        if (total + bytes > MOST_BYTES) {
            drop(slot);
            throw new RejectedException(CudaResult.OUT_OF_MEMORY, "more data of calls than a client may have on its way");
        }
        total += bytes;
        reserve(piece, offset + bytes);
        MemorySegment.copy(from, at, piece.memory, offset, bytes);
        piece.bytes += bytes;
    }

    private static void reserve(Piece piece, long bytes) {
        if (piece.memory != null && piece.memory.byteSize() >= bytes) {
            return;
        }
        long larger = piece.memory == null ? FIRST_BYTES : piece.memory.byteSize();
        while (larger < bytes) {
            larger *= 2;
        }
        Arena arena = Arena.ofConfined();
        MemorySegment memory = arena.allocate(larger, 64);
        if (piece.memory != null) {
            MemorySegment.copy(piece.memory, 0, memory, 0, piece.bytes);
            piece.arena.close();
        }
        piece.arena = arena;
        piece.memory = memory;
    }

    /** What came for a slot; empty if nothing did. */
    MemorySegment data(int slot) {
        Piece piece = pieces[slot];
        return piece == null || piece.memory == null ? MemorySegment.NULL : piece.memory.asSlice(0, piece.bytes);
    }

    /** Forgets what came for a slot, after its call. */
    void drop(int slot) {
        Piece piece = pieces[slot];
        if (piece != null && piece.arena != null) {
            piece.arena.close();
            total -= piece.bytes;
        }
        pieces[slot] = null;
    }

    @Override
    public void close() {
        for (int slot = 0; slot < pieces.length; slot++) {
            drop(slot);
        }
    }
}

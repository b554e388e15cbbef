package io.tessera.executor.call.dispatch;

import io.tessera.device.CudaResult;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.quota.TenantAccount;
import io.tessera.os.LinuxException;
import io.tessera.os.linux.GrowingMemory;
import io.tessera.protocol.relay.RelayLayout;
import java.lang.foreign.MemorySegment;

/**
 * Input data of calls that is sent in pieces before the call, for one call of each reply slot at a time. The buffer grows as pieces arrive, so that it is never
 * much larger than the data that the client has sent. One owner thread.
 */
final class BulkData implements AutoCloseable {
    private final TenantAccount account;
    private final Piece[] pieces = new Piece[RelayLayout.SLOTS + 1];

    /** Data that has arrived for one slot. */
    private static final class Piece {
        private final GrowingMemory memory = new GrowingMemory();
        private long bytes;
    }

    /** Creates an empty set of pieces for a tenant. */
    BulkData(TenantAccount account) {
        this.account = account;
    }

    /**
     * Adds a piece.
     *
     * @param slot   reply slot + 1, or 0; valid
     * @param offset number of bytes that arrived before, as the client counts
     * @throws RejectedException if the offset is wrong, or the data exceeds one call's; all of it is discarded
     */
    void append(int slot, long offset, MemorySegment from, long at, int bytes) throws RejectedException {
        Piece piece = pieces[slot];
        if (piece != null && offset == 0 && piece.bytes != 0) {
            drop(slot); // data of a call that never followed, because its thread died
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
        String refusal = account.data(bytes);
        if (refusal != null) {
            drop(slot);
            throw RejectedException.bound(refusal);
        }
        piece.bytes += bytes;
        try {
            MemorySegment.copy(from, at, reserve(piece, offset + bytes), offset, bytes);
        } catch (RejectedException e) {
            drop(slot);
            throw e;
        }
    }

    private static MemorySegment reserve(Piece piece, long bytes) throws RejectedException {
        try {
            return piece.memory.atLeast(bytes);
        } catch (LinuxException e) {
            throw RejectedException
                    .bound("the host gives no memory for the data of a call (" + e.getMessage() + "); end other programs, or pass less in one call");
        }
    }

    /**
     * Returns the data that arrived for a slot, until it is discarded; empty if none did.
     *
     * @throws RejectedException if the host has no memory for it
     */
    MemorySegment data(int slot) throws RejectedException {
        Piece piece = pieces[slot];
        return piece == null || piece.bytes == 0 ? MemorySegment.NULL
                : reserve(piece, piece.bytes).asSlice(0, piece.bytes);
    }

    /** Forgets what came for a slot, after its call. */
    void drop(int slot) {
        Piece piece = pieces[slot];
        if (piece != null) {
            piece.memory.close();
            account.data(-piece.bytes);
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

package io.tessera.manager.memory;

import io.tessera.protocol.segment.AckWord;
import io.tessera.protocol.segment.DeviceBlock;
import io.tessera.protocol.segment.ResidencyBlock;
import io.tessera.protocol.segment.SubmissionKind;
import io.tessera.protocol.segment.ThreadSlot;
import io.tessera.protocol.segment.TurnWord;

/**
 * A client of plan swap that behaves as SPEC.md, section 9, describes: it moves one chunk a step, out only when drained, and opens its gate when all
 * memory is in.
 */
public final class SimulatedSwapClient {
    /** Bytes that it moves in one step. */
    public static final long CHUNK = 1L << 30;

    /** The connection. */
    public final InMemoryClient peer;
    /** Steps with an open gate and all memory resident. */
    public int worked;
    /** Whether it wants to work. */
    public boolean busy = true;
    /** Whether the driver keeps it from doing anything. */
    public boolean frozen;
    /** Whether it lacks host memory for what it should give up. */
    public boolean keeps;
    private final long neededBytes;
    private boolean open;

    /** Creates a registered client that needs this many bytes. */
    public SimulatedSwapClient(InMemoryClient peer, long neededBytes) {
        this.peer = peer;
        this.neededBytes = neededBytes;
        words().neededBytes(neededBytes);
        words().swappableBytes(neededBytes);
        words().swappedBytes(neededBytes);
        words().pinnedWanted(neededBytes);
        block().usedBytes(neededBytes);
    }

    /** Returns its words of residency. */
    public ResidencyBlock words() {
        return peer.residency(0);
    }

    private DeviceBlock block() {
        return peer.block(0);
    }

    /** Returns whether its gate is open. */
    public boolean isOpen() {
        return open;
    }

    /** Runs one step; does nothing once the client is dead. */
    public void step(long nowNs) {
        if (frozen) {
            return;
        }
        long turn = block().turn();
        long epoch = TurnWord.epoch(turn);
        if (TurnWord.state(turn) == TurnWord.CLOSED) {
            open = false;
            if (AckWord.epoch(block().ack()) != epoch) {
                block().ack(AckWord.of(epoch, AckWord.CLOSED));
                peer.ring(0);
            }
            if (words().residentBytes() > words().residentTarget() && !keeps) {
                move(-Math.min(CHUNK, words().residentBytes() - words().residentTarget()));
            }
        }
        takeIn();
        boolean all = words().residentBytes() >= neededBytes;
        boolean answered = open && AckWord.epoch(block().ack()) == epoch;
        if (TurnWord.state(turn) != TurnWord.CLOSED && !answered && all) {
            open = true;
            block().wantSinceNs(0);
            block().ack(AckWord.of(epoch, AckWord.OPEN));
            peer.ring(0);
        }
        if (busy && open) {
            worked++;
            ThreadSlot.of(peer.segment(), 0).add(SubmissionKind.LAUNCH, 0, 1);
        } else if (busy && block().wantSinceNs() == 0) {
            block().wantSinceNs(nowNs);
            peer.ring(0);
        }
    }

    private void takeIn() {
        long missing = Math.min(neededBytes, words().residentTarget()) - words().residentBytes();
        if (missing > 0 && words().active()) {
            move(Math.min(CHUNK, missing));
        }
    }

    private void move(long bytes) {
        words().residentBytes(words().residentBytes() + bytes);
        words().swappedBytes(Math.max(0, neededBytes - words().residentBytes()));
        words().settledChunks(words().settledChunks() + 1);
        peer.ring(0);
    }
}

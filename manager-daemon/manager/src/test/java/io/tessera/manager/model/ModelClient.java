package io.tessera.manager.model;

import io.tessera.manager.memory.InMemoryClient;
import io.tessera.protocol.segment.AckWord;
import io.tessera.protocol.segment.DeviceBlock;
import io.tessera.protocol.segment.ResidencyBlock;
import io.tessera.protocol.segment.SubmissionKind;
import io.tessera.protocol.segment.ThreadSlot;
import io.tessera.protocol.segment.TurnWord;
import java.util.stream.IntStream;

/**
 * A client of plan swap that behaves as SPEC.md, section 9, describes, in the smallest steps between which others can act. Each step returns whether
 * it did anything. Not thread-safe.
 */
final class ModelClient {
    /** Steps of a client. */
    enum Step { ANSWER, OUT, IN, WORK, ALLOCATE, FREE, SAMPLE }

    private static final long CHUNK = ModelDevice.CHUNK;
    private static final long LASTS_NS = 15_000_000L;
    private static final long ALLOCATION_WAITS_NS = 30_000_000_000L;

    final InMemoryClient peer;
    private final ModelDevice device;
    private int present;
    /** Memory off the device, by the tier of the host's memory that holds it: pinned, pageable, file. */
    private final int[] tiers = new int[3];
    private int fresh;
    private boolean open;
    private boolean dead;
    private long refusedSinceNs = Long.MIN_VALUE;
    private long allocatesUntilNs = Long.MIN_VALUE;
    /** Number of launches, successful allocations, and calls that failed for lack of memory. */
    int served;
    int refused;
    boolean stopped;

    /** Creates a registered client whose memory has never been resident. */
    ModelClient(InMemoryClient peer, ModelDevice device, int neededChunks, int fileChunks) {
        this.peer = peer;
        this.device = device;
        this.fresh = neededChunks;
        words().fileLimit(fileChunks * CHUNK);
        publish();
    }

    private ResidencyBlock words() {
        return peer.residency(0);
    }

    private DeviceBlock block() {
        return peer.block(0);
    }

    int neededChunks() {
        return present + awayChunks() + fresh;
    }

    int presentChunks() {
        return present;
    }

    int awayChunks() {
        return IntStream.of(tiers).sum();
    }

    boolean isOpen() {
        return open && !dead;
    }

    boolean isDead() {
        return dead;
    }

    boolean allocates() {
        return allocatesUntilNs != Long.MIN_VALUE;
    }

    /** Returns whether it is stopped as a process with work that may be on the device: then no other client may start, whatever the memory. */
    boolean keepsTheDevice() {
        return stopped && !dead && (open || !answered() || TurnWord.state(block().turn()) != TurnWord.CLOSED);
    }

    /** Returns what distinguishes its states, apart from times. */
    String state() {
        if (dead) {
            return "dead";
        }
        long turn = block().turn();
        return present + "/" + tiers[0] + "+" + tiers[1] + "+" + tiers[2] + "/" + fresh + (open ? "o" : "c") + (stopped ? "s" : "")
                + (allocates() ? "a" : "")
                + (refusedSinceNs != Long.MIN_VALUE ? "r" : "") + TurnWord.state(turn) + (answered() ? "=" : "!")
                + words().residentTarget() / CHUNK + "t" + words().residentLimit() / CHUNK + "l" + words().flags() + "f"
                + (words().pinnedTarget() + words().pageableTarget()) / CHUNK + "h" + (block().wantSinceNs() != 0 ? "w" : "");
    }

    private boolean answered() {
        return AckWord.epoch(block().ack()) == TurnWord.epoch(block().turn());
    }

    private boolean isShort() {
        return (words().flags() & ResidencyBlock.FLAG_SHORT) != 0;
    }

    /** Ends its process. */
    boolean die() {
        if (dead) {
            return false;
        }
        dead = true;
        device.give(present);
        peer.die();
        return true;
    }

    boolean step(Step step, long nowNs) {
        if (dead || stopped) {
            return false;
        }
        return switch (step) {
            case ANSWER -> answer();
            case OUT -> moveOut();
            case IN -> moveIn(nowNs);
            case WORK -> work(nowNs);
            case ALLOCATE -> allocate(nowNs);
            case FREE -> free();
            case SAMPLE -> sample(nowNs);
        };
    }

    private boolean answer() {
        long turn = block().turn();
        if (TurnWord.state(turn) == TurnWord.CLOSED) {
            if (answered()) {
                return false;
            }
            open = false;
            if (allocates()) { // it reserves addresses, and gets memory with the next turn
                endAllocation();
                fresh++;
                publish();
            }
            block().ack(AckWord.of(TurnWord.epoch(turn), AckWord.CLOSED));
        } else {
            if (answered() || present < neededChunks()) {
                return false;
            }
            open = true;
            block().wantSinceNs(0);
            block().ack(AckWord.of(TurnWord.epoch(turn), AckWord.OPEN));
        }
        peer.ring(0);
        return true;
    }

    private boolean moveOut() {
        boolean closed = TurnWord.state(block().turn()) == TurnWord.CLOSED && answered() && !open;
        int tier = tierWithRoom();
        if (!closed || present == 0 || present * CHUNK <= words().residentTarget() || tier == tiers.length) {
            return false;
        }
        present--;
        tiers[tier]++;
        device.give(1);
        settled();
        return true;
    }

    private long tierBytes(int tier) {
        return switch (tier) {
            case 0 -> words().pinnedTarget();
            case 1 -> words().pageableTarget();
            default -> words().fileLimit();
        };
    }

    private int tierWithRoom() {
        int tier = 0;
        while (tier < tiers.length && (tiers[tier] + 1) * CHUNK > tierBytes(tier)) {
            tier++;
        }
        return tier;
    }

    /** Gives backing up: first what it may no longer have, then the slowest. */
    private void giveBacking() {
        for (int tier = tiers.length - 1; tier >= 0; tier--) {
            if (tiers[tier] * CHUNK > tierBytes(tier)) {
                tiers[tier]--;
                return;
            }
        }
        int tier = tiers.length - 1;
        while (tiers[tier] == 0) {
            tier--;
        }
        tiers[tier]--;
    }

    private boolean moveIn(long nowNs) {
        if (awayChunks() + fresh == 0 || (present + 1) * CHUNK > words().residentTarget()) {
            return false;
        }
        if (!take(nowNs)) {
            return true;
        }
        if (awayChunks() > 0) {
            giveBacking();
        } else {
            fresh--;
        }
        present++;
        settled();
        return true;
    }

    /** Asks the driver for a chunk, as the budget rule allows. */
    private boolean take(long nowNs) {
        words().residentBytes((present + 1) * CHUNK);
        if (device.take()) {
            refusedSinceNs = Long.MIN_VALUE;
            return true;
        }
        publish();
        if (refusedSinceNs == Long.MIN_VALUE) {
            refusedSinceNs = nowNs;
        } else if (nowNs - refusedSinceNs >= LASTS_NS) {
            words().refused(device.freeBytes());
        }
        peer.ring(0);
        return false;
    }

    private boolean work(long nowNs) {
        if (open) {
            served++;
            ThreadSlot.of(peer.segment(), 0).add(SubmissionKind.LAUNCH, 0, 1);
            return true;
        }
        if (isShort()) {
            block().wantSinceNs(0);
            refused++;
            return true;
        }
        if (block().wantSinceNs() != 0) {
            return false;
        }
        block().wantSinceNs(nowNs);
        peer.ring(0);
        return true;
    }

    private boolean allocate(long nowNs) {
        if (!open) {
            return false;
        }
        if ((neededChunks() + 1) * CHUNK > words().residentLimit() || allocates() && nowNs >= allocatesUntilNs) {
            endAllocation();
            refused++;
            return true;
        }
        if ((present + 1) * CHUNK <= words().residentTarget() && take(nowNs)) {
            present++;
            endAllocation();
            settled();
            served++;
            return true;
        }
        boolean begins = !allocates();
        if (begins) {
            allocatesUntilNs = nowNs + ALLOCATION_WAITS_NS;
            words().residentWanted((present + 1) * CHUNK);
            peer.ring(0);
        }
        return begins;
    }

    private void endAllocation() {
        allocatesUntilNs = Long.MIN_VALUE;
        words().residentWanted(0);
    }

    private boolean free() {
        if (neededChunks() == 0 || allocates()) {
            return false;
        }
        if (fresh > 0) {
            fresh--;
        } else if (awayChunks() > 0) {
            giveBacking();
        } else {
            present--;
            device.give(1);
        }
        settled();
        return true;
    }

    private boolean sample(long nowNs) {
        words().driverFree(device.freeBytes(), nowNs);
        return true;
    }

    private void settled() {
        publish();
        words().settledChunks(words().settledChunks() + 1);
        peer.ring(0);
    }

    private void publish() {
        long needed = neededChunks() * CHUNK;
        words().residentBytes(present * CHUNK);
        words().neededBytes(needed);
        words().swappableBytes(needed);
        words().swappedBytes(awayChunks() * CHUNK);
        words().pinnedWanted(needed);
        words().pageableWanted(Math.max(0, needed - words().pinnedTarget()));
        words().pinnedHeld(tiers[0] * CHUNK);
        words().pageableHeld(tiers[1] * CHUNK);
        words().fileHeld(tiers[2] * CHUNK);
        block().usedBytes(needed);
    }
}

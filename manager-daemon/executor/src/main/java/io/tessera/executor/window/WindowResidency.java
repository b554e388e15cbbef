package io.tessera.executor.window;

import io.tessera.clock.NanoClock;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.FatalErrors;
import io.tessera.executor.swap.ContentKernel;
import io.tessera.executor.swap.DeviceSwap;
import io.tessera.executor.swap.ResidencyTurns;
import io.tessera.executor.wait.BoundedWait;
import io.tessera.executor.wait.WaitLimit;
import java.util.function.IntSupplier;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Residency of a tenant's memory: whether it is on the device, how it leaves for others and how it comes back. While a part of it is off the device, no record
 * of the tenant is executed. All moves are made by threads of the tenant's own clients, one at a time by the window's lock. Methods with a client as argument
 * belong to that client's owner thread.
 */
final class WindowResidency {
    /** The assumed need of a caller that does not know how much it takes. */
    static final long UNKNOWN_BYTES = 256L << 20;
    /** Resolution of the times of work. */
    private static final long NOTED_NS = 1_000_000L;
    /** Most room that is made at once for memory outside of windows, in reserves: 4 GiB on an H200. */
    private static final long ROOM_RESERVES = 2;
    private static final Logger LOG = LoggerFactory.getLogger(WindowResidency.class);

    /** The window to which the memory belongs. */
    interface Owner {
        /**
         * Runs an action that takes memory off the device, while nothing of the tenant runs and no client is in the middle of a record. Unused memory is given
         * back first.
         *
         * @return the action's result; NOT_READY: a client is in the middle of a record; OUT_OF_MEMORY: the tenant's work does not come to rest
         */
        int whenStill(WindowClient client, IntSupplier change);

        /** Runs an action that changes which memory is on the device. No work of the tenant runs, since some memory is away. Returns the action's result. */
        int change(WindowClient client, IntSupplier change);
    }

    private final Owner window;
    private final WindowPages pages;
    private final TenantMoves moves;
    private final ContentKernel kernel;
    private final ResidencyTurns turns;
    private final ResidencyTurns.Party party;
    private final NanoClock clock;
    private final long pieceBytes;
    private final long reserveBytes;
    private volatile boolean away;
    private volatile long awayBytes;
    private volatile long workedNs;
    private volatile boolean recalled;
    /** When the tenant was last seen without work, while others waited. */
    private volatile long quietNs;
    /** Time without work in this turn, while others waited. */
    private volatile long pausesNs;

    WindowResidency(Owner window, WindowPages pages, DriverPages driverPages, long pieceBytes, DeviceSwap swap, NanoClock clock) {
        this.window = window;
        this.pages = pages;
        this.moves = new TenantMoves(pages, driverPages, pieceBytes, swap, clock);
        this.kernel = swap.kernel();
        this.turns = swap.turns();
        this.clock = clock;
        this.pieceBytes = pieceBytes;
        this.reserveBytes = swap.reserveBytes();
        this.workedNs = clock.nanoTime();
        this.party = turns.join(workedNs);
    }

    /** Returns whether some of the tenant's memory is not on the device. Any thread; it stays so or not while the caller is inside of the gate. */
    boolean isAway() {
        return away;
    }

    /** Returns the tenant's memory that is not on the device. Any thread. */
    long awayBytes() {
        return awayBytes;
    }

    /** Returns the bytes that were copied from the device so far. Any thread. */
    long copiedBytes() {
        return moves.copiedBytes();
    }

    /** Returns the bytes that have left the device so far without a copy. Any thread. */
    long sparedBytes() {
        return moves.sparedBytes();
    }

    /** Returns the bytes that others have on the device and would give up. Any thread. */
    long othersBytes() {
        return turns.othersBytes(party);
    }

    /** Makes the tenant leave by order of an operator. Any thread. */
    void park() {
        recalled = false;
        turns.park(party);
    }

    /** Makes the tenant's memory come back by order of an operator. Any thread. */
    void recall() {
        turns.stay(party);
        recalled = away;
    }

    /** Returns whether the memory has to come back although no client has asked for anything. */
    boolean isRecalled() {
        return recalled;
    }

    /** Records that a client has just executed records, which may have taken long. */
    void worked() {
        long nowNs = clock.nanoTime();
        if (nowNs - workedNs > NOTED_NS) {
            workedNs = nowNs;
        }
    }

    /** Sets whether the window is taking memory now; the lock is held. */
    void grows(boolean now) {
        party.grows(now);
    }

    /** Records that the window's memory has changed; the lock is held. */
    void changed() {
        awayBytes = pages.awayBytes();
        away = awayBytes > 0;
        recalled &= away;
        party.movable(pages.realBytes());
    }

    /**
     * Leaves the device if that is due: another tenant needs the memory, and this tenant is idle, or its turn is over.
     *
     * @return a CUresult; not SUCCESS: the context is lost
     */
    int giveWay(WindowClient client) {
        if (!turns.isAsked()) {
            if (moves.handedBytes() > 0) {
                moves.releaseHanded(client.driver()); // the tenant for which it was handed on has enough, or has gone
            }
            return CudaResult.SUCCESS;
        }
        long nowNs = clock.nanoTime();
        long idleNs = client.streams().query() == CudaResult.SUCCESS ? idleNs(nowNs) : -1;
        return turns.isDue(party, idleNs, nowNs) ? leave(client, idleNs >= 0, nowNs) : CudaResult.SUCCESS;
    }

    /** Returns the sum of the turn's pauses; -1 if it works. The sum decides: leaving after each short pause, or after none, costs more (ski rental). */
    private long idleNs(long nowNs) {
        long worked = workedNs;
        if (nowNs - worked < ResidencyTurns.SHORTEST_IDLE_NS) {
            return -1;
        }
        pausesNs += Math.max(0, nowNs - Math.max(worked, quietNs));
        quietNs = nowNs;
        return pausesNs;
    }

    private int leave(WindowClient client, boolean idle, long beganNs) {
        long awayBefore = awayBytes;
        long copiedBefore = copiedBytes();
        turns.gave(party, 0, beganNs);
        kernel.load(client.driver()); // if it is not loaded yet: on a software GPU, or because the device was full
        int result = window.whenStill(client, () -> {
            long[] before = {pages.realBytes()};
            return moves.out(client.driver(), () -> {
                turns.gave(party, before[0] - pages.realBytes(), clock.nanoTime());
                before[0] = pages.realBytes();
                return turns.needsMore(party);
            }, () -> turns.bringsBack(party));
        });
        long nowNs = clock.nanoTime();
        if (result == CudaResult.SUCCESS) {
            turns.left(party, idle, awayBytes - awayBefore, copiedBytes() - copiedBefore, nowNs);
            pausesNs = 0;
            LOG.debug("left {}: {} MiB are away, {} ms; so far {} MiB copied, {} MiB not; {}", idle ? "for want of work" : "when its turn was over",
                    awayBytes >> 20,
                    (nowNs - beganNs) / 1_000_000, copiedBytes() >> 20, sparedBytes() >> 20, moves.times());
        } else if (result != CudaResult.NOT_READY) {
            turns.stuck(party, awayBytes > awayBefore, nowNs);
            LOG.debug("a tenant cannot leave the device: {}", result);
        }
        return FatalErrors.isFatal(result) ? result : CudaResult.SUCCESS;
    }

    /**
     * Brings the tenant's memory back, as far as there is room now.
     *
     * @return a CUresult; NOT_READY: it is not all back yet, and the caller asks again; OUT_OF_MEMORY: no other tenant makes room for it
     */
    int comeBack(WindowClient client) {
        int result = back(client, 0);
        if (result == CudaResult.SUCCESS) {
            turns.granted(party, clock.nanoTime());
        }
        return result;
    }

    /** As above, for a client that needs more bytes beside the memory that is off the device, and keeps its place in the line. */
    private int back(WindowClient client, long moreBytes) {
        long beganNs = clock.nanoTime();
        if (!turns.stand(party, beganNs)) {
            return CudaResult.NOT_READY;
        }
        boolean was = away;
        int result = was ? window.change(client, () -> {
            int moved = moves.in(client.driver(), () -> roomBytes(client.driver()) + moves.handedBytes());
            changed();
            return moved;
        }) : CudaResult.SUCCESS;
        long nowNs = clock.nanoTime();
        if (result == CudaResult.SUCCESS && was) {
            turns.back(party);
            workedNs = nowNs; // the client that brought it back has something to do
            pausesNs = 0;
            LOG.debug("came back; {}", moves.times());
        }
        if (result != CudaResult.OUT_OF_MEMORY) {
            return result;
        }
        turns.lacks(party, Math.max(pieceBytes, awayBytes + moreBytes - roomBytes(client.driver()) - moves.handedBytes()));
        if (!turns.isHopeless(party, nowNs)) {
            return CudaResult.NOT_READY;
        }
        turns.withdraw(party, nowNs);
        return CudaResult.OUT_OF_MEMORY;
    }

    private static long freeBytes(DriverCalls driver) {
        int result = driver.call(DriverEntry.cuMemGetInfo_v2, driver.out(0), driver.out(1));
        return result == CudaResult.SUCCESS ? driver.outLong(0) : 0;
    }

    /** Returns the bytes that are free for this tenant; they include the driver's reserve if no other tenant has memory that could leave for it. */
    private long roomBytes(DriverCalls driver) {
        return freeBytes(driver) - (turns.othersBytes(party) == 0 ? 0 : reserveBytes);
    }

    /**
     * Repeats an action that found no memory, when others have made room for it. Called in the middle of a record. It is repeated at least once while no other
     * client tries: if several clients try at once, none may find enough.
     *
     * @param bytes  the bytes that it needs
     * @param answer its last answer
     * @param lacks  whether an answer says that there was no memory
     * @return its last answer
     */
    long withRoom(WindowClient client, long bytes, long answer, LongSupplier action, LongPredicate lacks) {
        if (!lacks.test(answer) || client.isLeaving() || client.pass().holdsLock()) {
            return answer;
        }
        long result = answer;
        boolean hopeless = false;
        while (lacks.test(result) && !hopeless && client.goesOn()) {
            int back = back(client, bytes);
            if (back == CudaResult.SUCCESS) {
                moves.releaseHanded(client.driver());
                long missing = bytes - roomBytes(client.driver());
                hopeless = turns.isHopeless(party, clock.nanoTime());
                if (missing <= 0 || hopeless) {
                    result = action.getAsLong();
                }
                if (lacks.test(result)) {
                    turns.lacks(party, Math.max(pieceBytes, missing));
                }
            } else if (back != CudaResult.NOT_READY) {
                break;
            }
            if (lacks.test(result) && !hopeless) {
                client.pass().outsideWithoutMemory(() -> pause(client));
            }
        }
        if (lacks.test(result)) {
            turns.withdraw(party, clock.nanoTime());
        } else {
            turns.granted(party, clock.nanoTime());
        }
        awaitBack(client);
        return result;
    }

    /**
     * Makes this much more room for memory that does not belong to the window, or as much as is sensible on a small device. Returns whether the room is there
     * now, so that it is worth trying.
     */
    boolean makeRoom(WindowClient client, long bytes) {
        long wanted = freeBytes(client.driver()) + Math.min(bytes, Math.max(pieceBytes, ROOM_RESERVES * reserveBytes));
        return withRoom(client, wanted, CudaResult.OUT_OF_MEMORY,
                () -> freeBytes(client.driver()) >= wanted ? CudaResult.SUCCESS : CudaResult.OUT_OF_MEMORY,
                answer -> answer == CudaResult.OUT_OF_MEMORY) == CudaResult.SUCCESS;
    }

    private void pause(WindowClient client) {
        giveWay(client); // if the context is lost, the next call of the driver reports it, too
        BoundedWait.begin(clock, WaitLimit.ROOM).pause();
    }

    /** Waits before a record continues, until all of the tenant's memory is on the device, or the client is given up. */
    private void awaitBack(WindowClient client) {
        while (away && client.goesOn()) {
            int result = comeBack(client);
            if (result != CudaResult.SUCCESS && result != CudaResult.NOT_READY) {
                return;
            }
            client.pass().outsideWithoutMemory(() -> pause(client));
        }
        if (away) {
            withdraw();
        }
    }

    /** Records that the client that stood in the line for the tenant no longer asks. Another waiting client joins the line with its next try. */
    void withdraw() {
        turns.withdraw(party, clock.nanoTime());
    }

    /** Leaves the turns and frees the copies, when the window is closed. Returns a CUresult. */
    int close(DriverCalls driver) {
        turns.leave(party, clock.nanoTime());
        moves.releaseHanded(driver);
        return moves.close(driver);
    }
}

package io.tessera.executor.session;

import io.tessera.device.CudaResult;
import io.tessera.executor.call.ClientCompletion;
import io.tessera.executor.driver.SynchronizationGate;
import io.tessera.executor.part.ClientPart;
import io.tessera.executor.pool.ClientPools;
import io.tessera.executor.print.ClientPrinting;
import io.tessera.executor.ring.RingConsumer;
import io.tessera.executor.stream.EventWatch;
import io.tessera.executor.stream.StreamParts;
import io.tessera.executor.window.ClientWindow;
import io.tessera.os.FutexPort;
import io.tessera.os.LinuxException;
import io.tessera.protocol.relay.RelaySegment;
import java.util.function.BooleanSupplier;

/** The idle work of a client's thread while its ring is empty. One owner thread. */
final class IdleWait {
    private static final boolean MANY_CORES = Runtime.getRuntime().availableProcessors() > 4;
    /**
     * After a client's last record, its thread first spins on the ring for this time, then yields its core, then sleeps. Waking a sleeping thread costs the
     * client a system call, and some 50 us pass until the thread runs. That is more than the interval between launches of a busy program, so with a shorter
     * time both sides might sleep at every launch. With few cores, the client and the device's threads need them more: threads that yield to each other keep a
     * third one waiting.
     */
    private static final long SPIN_NS = MANY_CORES ? 200_000L : 50_000L;
    private static final long YIELD_NS = MANY_CORES ? 1_000_000L : 150_000L;
    /** Number of polls of the ring for each check of everything else, while nothing else is awaited. */
    private static final int RING_LOOKS = 8;
    private static final long LONGEST_SLEEP_NS = 100_000_000L;
    private static final long SLEEP_WATCHING_NS = 20_000L;
    private static final long SLEEP_MARK_OUT_NS = 5_000_000L;
    private static final long SLEEP_WORKING_NS = 1_000_000L;
    private static final long WORKING_POLL_NS = 500_000L;
    /** As above while the client is alone, when only the count of GPU time needs it; and in turns, when the next tenant waits for the answer. */
    private static final long WORKING_ALONE_POLL_NS = 5_000_000L;
    private static final long WORKING_GATED_POLL_NS = 100_000L;

    private final ClientWindow window;
    private final ClientPools pools;
    private final EventWatch watch;
    private final ClientPrinting printing;
    private final SynchronizationGate.Client synchronization;
    private final RelaySegment segment;
    private final FutexPort futex;
    private final Containment contain;
    private final ClientPart part;
    private final StreamParts streams;
    private final BooleanSupplier ending;
    /** When the device was last asked whether it has work of the client. */
    private long askedNs;

    IdleWait(StreamParts streams, ClientWindow window, ClientPools pools, ClientCompletion completion, SynchronizationGate.Client synchronization,
            FutexPort futex, Containment contain, ClientPart part, BooleanSupplier ending) {
        this.streams = streams;
        this.window = window;
        this.pools = pools;
        this.watch = completion.watch();
        this.printing = completion.printing();
        this.synchronization = synchronization;
        this.segment = completion.segment();
        this.futex = futex;
        this.contain = contain;
        this.part = part;
        this.ending = ending;
    }

    /** Asks the driver whether the client's work is done: its GPU time is counted by that, and in turns the next tenant waits for it. */
    void askWhetherWorking(int lostResult, long nowNs) {
        if (streams.isWorking() && nowNs - askedNs >= workingPollNs() && lostResult == CudaResult.SUCCESS) {
            askedNs = nowNs;
            part.turn().stands(synchronization.isStanding());
            streams.lookWhetherWorking();
        }
    }

    private long workingPollNs() {
        return part.turn().isGated() ? WORKING_GATED_POLL_NS : part.isBesideOthers() ? WORKING_POLL_NS : WORKING_ALONE_POLL_NS;
    }

    /**
     * Waits for records. The longer there was none, the less often it looks.
     *
     * @param idleNs time since the last record
     */
    void idle(RecordDispatcher records, RingConsumer ring, long idleNs) throws LinuxException {
        if (idleNs < SPIN_NS) {
            spin(records, ring);
        } else if (idleNs < YIELD_NS) {
            Thread.yield();
        } else {
            window.rest();
            sleep(records, ring);
        }
    }

    /** Polls only the ring for a moment, which is much cheaper than all checks. */
    private void spin(RecordDispatcher records, RingConsumer ring) {
        int looks = records.isAwaited() || !watch.isEmpty() ? 1 : RING_LOOKS;
        do {
            Thread.onSpinWait();
        } while (--looks > 0 && !ring.hasWork());
    }

    private void sleep(RecordDispatcher records, RingConsumer ring) throws LinuxException {
        segment.park();
        if (!ring.hasWork() && !ending.getAsBoolean()) {
            long sleepNs = !watch.isEmpty() || printing.isAwaited() ? SLEEP_WATCHING_NS
                    : records.marks().isOut() || pools.isAwaited() || window.isRoomWanted()
                            ? SLEEP_MARK_OUT_NS
                    : streams.isWorking() ? Math.max(workingPollNs(), part.turn().isGated() ? 0 : SLEEP_WORKING_NS) : LONGEST_SLEEP_NS;
            futex.await(segment.parkedWord(), 1, contain.sleepNs(Math.min(sleepNs, records.sleepNs(LONGEST_SLEEP_NS))));
        }
        segment.unpark();
    }
}

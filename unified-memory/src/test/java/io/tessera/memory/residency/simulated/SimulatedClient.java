package io.tessera.memory.residency.simulated;

import java.util.Iterator;
import java.util.Random;

/** A program and its gate: runs its phases, stops when told to, asks for turns. Orders reach it after a delay. */
final class SimulatedClient {
    enum Order {
        CLOSED, GRANTED, FREE
    }

    private enum Doing {
        HOST, ASKING, WORKING, OVER
    }

    private static final long LONGEST_MESSAGE_NS = 100_000;
    private static final long LONGEST_DRAIN_NS = 1_000_000;

    final long id;
    final String tenant;
    final long guaranteeBytes;
    final SwapMemory memory;

    // What the manager reads
    private long answeredEpoch;
    private boolean quiet = true;
    private boolean open;
    private long wantSinceNs;
    private long idleSinceNs;
    private long endedNs;

    private final Cluster cluster;
    private final Random random;
    private final Iterator<Phase> phases;
    private Order order = Order.CLOSED;
    private long orderEpoch;
    private Doing doing = Doing.HOST;
    private Phase phase;
    private boolean allocated;
    private double leftNs;
    private long sliceFromNs;
    private int slice;
    private long firstWantNs;

    SimulatedClient(Cluster cluster, long id, String tenant, long guaranteeBytes, Iterator<Phase> phases, Random random) {
        this.cluster = cluster;
        this.id = id;
        this.tenant = tenant;
        this.guaranteeBytes = guaranteeBytes;
        this.phases = phases;
        this.random = random;
        this.memory = new SwapMemory(cluster, random);
    }

    // What the manager reads

    boolean quiet(long epoch) {
        return quiet && answeredEpoch == epoch;
    }

    boolean open() {
        return open;
    }

    /** Returns since when it asks for a turn; 0: it asks for none. */
    long wantSinceNs() {
        return wantSinceNs;
    }

    boolean hasWork() {
        return doing == Doing.ASKING || doing == Doing.WORKING;
    }

    long idleSinceNs() {
        return idleSinceNs;
    }

    boolean over() {
        return doing == Doing.OVER;
    }

    long endedNs() {
        return endedNs;
    }

    // Orders

    void told(Order newOrder, long epoch) {
        cluster.queue().after(1 + random.nextLong(LONGEST_MESSAGE_NS), () -> {
            if (epoch > orderEpoch && !over()) {
                orderEpoch = epoch;
                order = newOrder;
                obey();
            }
        });
    }

    private void obey() {
        long epoch = orderEpoch;
        if (order != Order.CLOSED) {
            memory.called(true);
            quiet = false;
            memory.pump();
            progressed();
            return;
        }
        memory.called(false);
        boolean drains = open && doing == Doing.WORKING;
        open = false;
        cluster.queue().after(drains ? random.nextLong(LONGEST_DRAIN_NS) : 0, () -> {
            if (over() || orderEpoch != epoch) {
                return;
            }
            stopWork();
            becomeQuiet();
        });
    }

    private void stopWork() {
        if (doing == Doing.WORKING) {
            cluster.works(this, false);
            doing = Doing.ASKING;
        }
        if (doing == Doing.ASKING) {
            wants();
        }
    }

    private void becomeQuiet() {
        quiet = true;
        answeredEpoch = orderEpoch;
        memory.quiet(true);
        memory.pump();
        cluster.ring();
    }

    /** Gives its turn back for lack of work. */
    void release() {
        order = Order.CLOSED;
        open = false;
        memory.called(false);
        becomeQuiet();
    }

    /** Records that memory came or went. */
    void progressed() {
        if (over()) {
            return;
        }
        if (order != Order.CLOSED && !open && memory.complete()) {
            memory.check();
            memory.quiet(false);
            open = true;
            answeredEpoch = orderEpoch;
            wantSinceNs = 0;
            cluster.manager().opened(this);
            cluster.ring();
        }
        proceed();
    }

    void targetChanged() {
        cluster.queue().after(1 + random.nextLong(LONGEST_MESSAGE_NS), () -> {
            memory.pump();
            progressed();
        });
    }

    void die() {
        if (doing == Doing.WORKING) {
            cluster.works(this, false);
        }
        doing = Doing.OVER;
        endedNs = cluster.queue().nowNs();
        memory.die();
        cluster.ended(this);
    }

    // The program

    void begin() {
        if (over()) {
            return;
        }
        if (!phases.hasNext()) {
            die();
            return;
        }
        phase = phases.next();
        leftNs = phase.gpuNs();
        allocated = false;
        doing = Doing.ASKING;
        firstWantNs = cluster.queue().nowNs();
        if (!open) {
            wants();
        }
        proceed();
    }

    private void wants() {
        if (wantSinceNs == 0) {
            wantSinceNs = Math.max(1, cluster.queue().nowNs());
            cluster.ring();
        }
    }

    private void proceed() {
        if (doing != Doing.ASKING || !open) {
            return;
        }
        if (!allocated) {
            allocated = true;
            cluster.waitsNs().add(cluster.queue().nowNs() - firstWantNs);
            memory.free(phase.freeChunks());
            memory.allocate(phase.allocateChunks());
        }
        if (memory.allocationWaits()) {
            cluster.ring();
            return;
        }
        memory.use();
        doing = Doing.WORKING;
        cluster.works(this, true);
    }

    /** Lets the device continue this client's work at a share of its speed. */
    void runAt(double speed) {
        int thisSlice = ++slice;
        sliceFromNs = cluster.queue().nowNs();
        cluster.queue().after((long) Math.ceil(leftNs / speed), () -> {
            if (doing == Doing.WORKING && slice == thisSlice) {
                finishWork();
            }
        });
    }

    /** Records how much of its work is done since it last began to run. */
    void ranAt(double speed) {
        slice++;
        leftNs = Math.max(0, leftNs - speed * (cluster.queue().nowNs() - sliceFromNs));
    }

    private void finishWork() {
        cluster.works(this, false);
        memory.check();
        doing = Doing.HOST;
        idleSinceNs = cluster.queue().nowNs();
        cluster.ring();
        cluster.queue().after(phase.hostNs(), this::begin);
    }
}

package io.tessera.manager.schedule;

import io.tessera.manager.schedule.turn.TurnState;
import io.tessera.manager.schedule.turn.TurnTerms;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** A client of {@link SimulatedGpu}: a host thread that launches, a gate, a queue on the device. */
final class SimulatedGpuClient {
    /** Launches that the driver queues before it makes the host wait. */
    private static final int QUEUE_LIMIT = 1024;

    enum Host { READY, AT_GATE, QUEUE_FULL, PACED, SYNCHRONISING }

    final long id;
    private final Workload first;
    private final Workload second;
    private final long secondFromNs;
    private final Random random;
    private final Random arrivals;
    private final double jitter;
    private long arrivalNs;
    private final long[] queuedNs = new long[QUEUE_LIMIT];
    private int queueHead;
    private int queued;
    private int launchedInStep;

    Host host = Host.READY;
    long hostReadyNs;
    boolean gateOpen;
    long outstandingNs;
    long lastWorkNs;
    TurnTerms terms = TurnTerms.NONE;
    TurnState turn = TurnState.CLOSED;
    long epoch;
    boolean closing;
    boolean wanting;

    long submissions;
    long completedKernels;
    double completedNs;

    /** Times from the arrival of each request to the end of its last kernel. */
    final List<Long> latenciesNs = new ArrayList<>();
    long busySamples;
    long samples;
    long usedBytes;

    SimulatedGpuClient(long id, Workload first, Workload second, long secondFromNs, double jitter, long seed) {
        this.id = id;
        this.first = first;
        this.second = second;
        this.secondFromNs = secondFromNs;
        this.jitter = jitter;
        this.random = new Random(seed);
        this.arrivals = new Random(~seed);
    }

    /** Begins the first step of the host. */
    void begin(long atNs) {
        hostReadyNs = atNs;
        arrivalNs = atNs;
    }

    private Workload workload(long nowNs) {
        return nowNs < secondFromNs ? first : second;
    }

    private long jittered(long ns) {
        return jitter == 0 ? ns : (long) (ns * (1 + jitter * (2 * random.nextDouble() - 1)));
    }

    boolean idle() {
        return queued == 0;
    }

    /** Handles the host thread's next launch; returns whether it passed the gate. */
    boolean launch(long nowNs) {
        if (!gateOpen) {
            host = Host.AT_GATE;
            return false;
        }
        if (queued == QUEUE_LIMIT) {
            host = Host.QUEUE_FULL;
            return false;
        }
        if (terms.paceNs() > 0 && outstandingNs >= terms.paceNs()) {
            host = Host.PACED;
            return false;
        }
        Workload work = workload(nowNs);
        queuedNs[(queueHead + queued) % QUEUE_LIMIT] = work.kernelNs();
        queued++;
        outstandingNs += work.kernelNs();
        submissions++;
        launchedInStep++;
        hostReadyNs = nowNs + jittered(work.launchNs());
        if (launchedInStep >= work.kernelsPerStep()) {
            launchedInStep = 0;
            if (work.synchronous()) {
                host = Host.SYNCHRONISING;
            } else {
                hostReadyNs += jittered(work.hostNs());
            }
        }
        return true;
    }

    /** Returns the remaining time of the kernel at the head of the queue. */
    long nextKernelNs() {
        return queuedNs[queueHead];
    }

    /** Records that the device worked on the kernel at the head of the queue. */
    void worked(long workNs, long nowNs) {
        queuedNs[queueHead] -= workNs;
        outstandingNs -= workNs;
        completedNs += workNs;
        lastWorkNs = nowNs;
        if (queuedNs[queueHead] == 0) {
            completed(nowNs);
        }
    }

    private void completed(long nowNs) {
        queueHead = (queueHead + 1) % QUEUE_LIMIT;
        queued--;
        completedKernels++;
        switch (host) {
            case QUEUE_FULL -> wake(nowNs);
            case PACED -> {
                if (outstandingNs < terms.paceNs() || terms.paceNs() == 0) {
                    wake(nowNs);
                }
            }
            case SYNCHRONISING -> {
                if (queued == 0) {
                    host = Host.READY;
                    hostReadyNs = nextStepNs(workload(nowNs), nowNs);
                }
            }
            case READY, AT_GATE -> {}
        }
    }

    private long nextStepNs(Workload work, long nowNs) {
        if (!work.requests()) {
            return nowNs + jittered(work.hostNs());
        }
        latenciesNs.add(nowNs - arrivalNs);
        arrivalNs += (long) (-work.hostNs() * Math.log(1 - arrivals.nextDouble()));
        return Math.max(nowNs, arrivalNs);
    }

    void wake(long nowNs) {
        host = Host.READY;
        hostReadyNs = Math.max(nowNs, hostReadyNs);
    }
}

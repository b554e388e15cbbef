package io.tessera.software.execution;

import io.tessera.software.fault.KernelFault;
import io.tessera.software.launch.DeviceLimits;
import io.tessera.software.launch.LaunchOutcome;
import io.tessera.software.memory.DeviceMemory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Runs one grid. The caller's thread and helpers claim clusters (single blocks, in most launches) in rising order, so an earlier block for which a block waits
 * is always running. A host thread whose blocks all spin claims further blocks and runs them alternately, up to the number that may be resident. So grids whose
 * blocks wait for each other make progress.
 */
public final class GridRunner {
    /** Clusters that a host thread claims at once are at most this share of what each would get. */
    private static final long CLAIMS_PER_WORKER = 16;
    /** Passes in which every thread used up its budget before a further block begins: most such loops just compute. */
    private static final int PATIENCE = 4;

    private final GridState grid;
    private final ThreadProgram program;
    private final DeviceMemory memory;
    private final int helpers;
    private final long clusters;
    private final long claim;
    private final long residentClusters;
    private final AtomicLong next = new AtomicLong();
    private int running;
    private boolean over;
    private volatile Throwable failure;

    /**
     * Prepares a grid.
     *
     * @param helpers host threads that may help the caller's
     */
    public GridRunner(GridState grid, ThreadProgram program, DeviceMemory memory, int helpers) {
        this.grid = grid;
        this.program = program;
        this.memory = memory;
        this.helpers = helpers;
        this.clusters = grid.grid.count() / grid.cluster.count();
        this.claim = Math.max(1, clusters / ((helpers + 1) * CLAIMS_PER_WORKER));
        long resident = residentBlocks(grid.limits, grid.block.count(), grid.sharedBytes());
        this.residentClusters = Math.max(1, resident / grid.cluster.count());
    }

    /** Blocks that may be alive together on the whole device. */
    public static long residentBlocks(DeviceLimits limits, long threads, long sharedBytes) {
        long byThreads = limits.residentThreads() / ((threads + 31) / 32 * 32);
        long shared = limits.sharedBytesPerBlock() + DeviceLimits.RESERVED_SHARED_BYTES;
        long byShared = shared / (sharedBytes + DeviceLimits.RESERVED_SHARED_BYTES);
        return limits.multiprocessors() * Math.max(0, Math.min(limits.residentBlocks(), Math.min(byThreads, byShared)));
    }

    /**
     * Runs the grid to its end on the calling thread and on helpers.
     *
     * @throws KernelFault the first fault of a thread; the grid has stopped
     */
    public LaunchOutcome run(Executor pool) {
        for (int i = 1; i <= Math.min(helpers, clusters - 1); i++) {
            int worker = i;
            pool.execute(() -> help(worker));
        }
        try {
            work(0);
        } finally {
            awaitHelpers();
        }
        switch (failure) {
            case null -> {}
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            default -> throw new IllegalStateException(failure);
        }
        return grid.control.isCancelled() ? LaunchOutcome.CANCELLED : LaunchOutcome.COMPLETED;
    }

    private void help(int worker) {
        synchronized (this) {
            if (over) {
                return;
            }
            running++;
        }
        try {
            work(worker);
        } finally {
            synchronized (this) {
                running--;
                notifyAll();
            }
        }
    }

    private synchronized void awaitHelpers() {
        over = true;
        boolean interrupted = false;
        // Bounded: helpers end with the grid, which ends by itself, by a fault or by its control.
        while (running > 0) {
            try {
                wait(1000);
            } catch (InterruptedException e) {
                grid.control.cancel();
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Runs one host thread's share. */
    private void work(int worker) {
        List<ClusterRun> made = new ArrayList<>();
        try {
            runClusters(worker, made);
        } catch (RuntimeException | Error e) {
            synchronized (this) {
                if (failure == null) {
                    failure = e;
                }
            }
        } finally {
            made.forEach(ClusterRun::close);
        }
    }

    private void runClusters(int worker, List<ClusterRun> made) {
        Deque<ClusterRun> idle = new ArrayDeque<>();
        List<ClusterRun> alive = new ArrayList<>();
        long claimed = 0;
        long end = 0;
        int spins = grid.isCooperative() ? PATIENCE : 0;
        while (failure == null && !grid.control.isCancelled()) {
            if (alive.isEmpty() || spins >= PATIENCE && alive.size() < residentClusters) {
                // Each of thousands of blocks would run until it looks: those that have not begun need not.
                if (grid.stop.isSet()) {
                    next.set(clusters);
                    claimed = end;
                }
                if (claimed == end) {
                    claimed = next.getAndAdd(claim);
                    end = Math.min(claimed + claim, clusters);
                }
                if (claimed < end) {
                    alive.add(begin(claimed++, worker, idle, made));
                } else {
                    claimed = end;
                    if (alive.isEmpty()) {
                        return;
                    }
                    Thread.yield();
                }
            }
            boolean spinning = passAll(alive, idle);
            if (!grid.isCooperative()) {
                spins = spinning ? spins % PATIENCE + 1 : 0;
            }
        }
    }

    private ClusterRun begin(long number, int worker, Deque<ClusterRun> idle, List<ClusterRun> made) {
        ClusterRun run = idle.poll();
        if (run == null) {
            run = new ClusterRun(grid, program, memory);
            made.add(run);
        }
        run.begin(number, worker);
        return run;
    }

    /** Runs all living clusters once; true if each of them only spun. */
    private static boolean passAll(List<ClusterRun> alive, Deque<ClusterRun> idle) {
        boolean spinning = true;
        for (int i = alive.size() - 1; i >= 0; i--) {
            BlockRun.Progress progress = alive.get(i).pass();
            spinning &= progress == BlockRun.Progress.SPINNING;
            if (progress == BlockRun.Progress.DONE) {
                idle.push(alive.remove(i));
            }
        }
        return spinning;
    }
}

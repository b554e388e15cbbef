package io.tessera.software.execution;

import io.tessera.software.memory.MemoryFault;

/** Runs the threads of one block on the calling host thread; reused for block after block of a grid. */
final class BlockRun {
    static final byte READY = 0;
    static final byte YIELDED = 1;
    static final byte AT_BARRIER = 2;
    static final byte AT_CLUSTER = 3;
    static final byte AT_WARP = 4;
    static final byte EXITED = 5;

    /** What a pass over all threads came to. */
    enum Progress {
        /** All threads have exited. */
        DONE,
        /** Some thread did something and waits or is ready. */
        ADVANCED,
        /** Threads ran, but all of those only used up their budget. */
        SPINNING,
        /** No thread could run. */
        STUCK
    }

    final BlockState block;
    private final ThreadProgram program;
    private final ThreadState[] threads;
    private final byte[] status;
    /** Phase of the barrier when a thread began to wait. */
    private final int[] phase;
    private int live;
    private boolean advanced;
    private boolean spun;

    BlockRun(GridState grid, ThreadProgram program, long sharedBase, long localBase) {
        this.block = new BlockState(grid, sharedBase, grid.sharedBytes());
        this.program = program;
        int count = block.threadCount;
        this.threads = new ThreadState[count];
        this.status = new byte[count];
        this.phase = new int[count];
        for (int i = 0; i < count; i++) {
            ThreadState thread = new ThreadState();
            Dim3 place = grid.block.at(i);
            thread.block = block;
            thread.tidX = place.x();
            thread.tidY = place.y();
            thread.tidZ = place.z();
            thread.lane = i & 31;
            thread.warp = i >>> 5;
            thread.localBase = localBase + (long) i * grid.localBytes;
            thread.localBytes = grid.localBytes;
            threads[i] = thread;
        }
    }

    /** Begins a block. */
    void begin(Dim3 ctaid, ClusterState cluster, int rank, int worker) {
        block.ctaidX = ctaid.x();
        block.ctaidY = ctaid.y();
        block.ctaidZ = ctaid.z();
        block.cluster = cluster;
        block.rank = rank;
        block.worker = worker;
        cluster.blocks[rank] = block;
        live = threads.length;
        for (Barrier barrier : block.barriers) {
            barrier.reset();
        }
        for (int i = 0; i < threads.length; i++) {
            status[i] = READY;
            threads[i].resumePoint = 0;
            threads[i].frames = null;
        }
    }

    boolean isDone() {
        return live == 0;
    }

    /** Runs every thread that can run until it stops, warp by warp. */
    Progress pass() {
        advanced = false;
        spun = false;
        for (int first = 0; first < threads.length; first += 32) {
            runWarp(first, Math.min(first + 32, threads.length));
        }
        for (Barrier barrier : block.barriers) {
            barrier.threadsLeft(live, block.threadCount);
        }
        if (live == 0) {
            return Progress.DONE;
        }
        return advanced ? Progress.ADVANCED : spun ? Progress.SPINNING : Progress.STUCK;
    }

    private void runWarp(int first, int end) {
        for (int i = first; i < end; i++) {
            if (status[i] == YIELDED) {
                status[i] = READY;
            }
        }
        boolean again = true;
        while (again) {
            boolean waiting = false;
            for (int i = first; i < end; i++) {
                if (mayRun(i)) {
                    run(i);
                }
                waiting |= status[i] == AT_WARP;
            }
            again = waiting && (WarpExchange.complete(threads, status, first, end)
                    || WarpExchange.completeActiveMask(threads, status, first, end));
            advanced |= again;
        }
    }

    /** Whether some thread could run now. */
    boolean canRun() {
        for (int i = 0; i < threads.length; i++) {
            if (mayRun(i)) {
                return true;
            }
        }
        return false;
    }

    private boolean mayRun(int i) {
        ThreadState thread = threads[i];
        switch (status[i]) {
            case READY:
                return true;
            case AT_BARRIER:
                Barrier barrier = block.barriers[thread.barrier];
                if (barrier.phase() == phase[i]) {
                    return false;
                }
                thread.result = barrier.outcome(thread.barrierOperation);
                return true;
            case AT_CLUSTER:
                return block.cluster.phase != phase[i];
            default:
                return false;
        }
    }

    private void run(int i) {
        ThreadState thread = threads[i];
        thread.budget = ThreadState.BUDGET;
        Stop stop;
        try {
            stop = program.resume(thread);
        } catch (KernelTrap e) {
            throw fault(e.kind(), thread, 0, e);
        } catch (MemoryFault e) {
            FaultKind kind = e.isMisaligned() ? FaultKind.MISALIGNED_ADDRESS : FaultKind.ILLEGAL_ADDRESS;
            throw fault(kind, thread, e.address(), e);
        } catch (StackOverflowError e) {
            throw fault(FaultKind.STACK_OVERFLOW, thread, 0, e);
        }
        switch (stop) {
            case EXIT -> {
                status[i] = EXITED;
                live--;
                block.cluster.live--;
                block.cluster.completeIfAll();
                advanced = true;
            }
            case YIELD -> {
                status[i] = YIELDED;
                spun = true;
            }
            case BARRIER -> {
                status[i] = AT_BARRIER;
                Barrier barrier = block.barriers[thread.barrier];
                phase[i] = barrier.phase();
                barrier.arrive(thread.barrierThreads == 0 ? block.threadCount : thread.barrierThreads, thread.value,
                        thread.barrierOperation != BarrierOperation.NONE);
                advanced = true;
            }
            case CLUSTER -> {
                status[i] = AT_CLUSTER;
                phase[i] = thread.clusterPhase;
                advanced = true;
            }
            case WARP -> status[i] = AT_WARP;
        }
    }

    private KernelFault fault(FaultKind kind, ThreadState thread, long address, Throwable cause) {
        return new KernelFault(kind, block.grid.kernel.name(), new Dim3(block.ctaidX, block.ctaidY, block.ctaidZ),
                new Dim3(thread.tidX, thread.tidY, thread.tidZ), address, cause);
    }

    /** The fault of a block whose threads wait for each other. */
    KernelFault deadlock() {
        for (int i = 0; i < threads.length; i++) {
            if (status[i] != EXITED) {
                String where = switch (status[i]) {
                    case AT_BARRIER -> "barrier " + threads[i].barrier;
                    case AT_CLUSTER -> "the cluster's barrier";
                    default -> threads[i].operation + " with mask 0x" + Integer.toHexString(threads[i].mask);
                };
                return fault(FaultKind.DEADLOCK, threads[i], 0, new IllegalStateException(
                        "the thread waits at " + where + " for others that never come"));
            }
        }
        throw new IllegalStateException("no thread is left");
    }
}

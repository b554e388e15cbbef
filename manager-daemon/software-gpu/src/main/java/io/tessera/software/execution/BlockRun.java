package io.tessera.software.execution;

import io.tessera.software.fault.FaultKind;
import io.tessera.software.fault.KernelFault;
import io.tessera.software.fault.KernelTrap;
import io.tessera.software.launch.Dim3;
import io.tessera.software.memory.MemoryFault;

/** Runs the threads of one block on the calling host thread; reused for block after block of a grid. */
final class BlockRun {
    /** Result of a pass over all threads. */
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
    void begin(Dim3 ctaid, BlockState.ClusterState cluster, int rank, int worker) {
        block.ctaidX = ctaid.x();
        block.ctaidY = ctaid.y();
        block.ctaidZ = ctaid.z();
        block.cluster = cluster;
        block.rank = rank;
        block.worker = worker;
        cluster.blocks[rank] = block;
        live = threads.length;
        block.ended = false;
        for (Barrier barrier : block.barriers) {
            barrier.reset();
        }
        for (int i = 0; i < threads.length; i++) {
            status[i] = ThreadStatus.READY;
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
            barrier.threadsLeft(live);
        }
        if (live == 0) {
            return Progress.DONE;
        }
        return advanced ? Progress.ADVANCED : spun ? Progress.SPINNING : Progress.STUCK;
    }

    private void runWarp(int first, int end) {
        for (int i = first; i < end; i++) {
            if (status[i] == ThreadStatus.YIELDED) {
                status[i] = ThreadStatus.READY;
            }
        }
        boolean again = true;
        while (again) {
            runReady(first, end);
            again = isAtWarp(first, end) && exchange(first, end);
            advanced |= again;
        }
    }

    private boolean exchange(int first, int end) {
        try {
            return WarpExchange.complete(threads, status, first, end)
                    || WarpExchange.completeConverged(threads, status, first, end);
        } catch (MemoryFault e) {
            throw fault(e);
        }
    }

    /** Runs the threads that can run, neighbours in one call. */
    private void runReady(int first, int end) {
        int from = first;
        while (from < end) {
            int to = from;
            while (to < end && mayRun(to)) {
                to++;
            }
            if (to > from) {
                run(from, to);
                from = to;
            } else {
                from++;
            }
        }
    }

    private boolean isAtWarp(int first, int end) {
        for (int i = first; i < end; i++) {
            if (status[i] == ThreadStatus.AT_WARP) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether some thread could run now. */
    boolean canRun() {
        for (int i = 0; i < threads.length; i++) {
            if (mayRun(i)) {
                return true;
            }
        }
        return false;
    }

    private boolean mayRun(int i) {
        if (status[i] == ThreadStatus.READY) {
            return true;
        }
        if (status[i] == ThreadStatus.AT_BARRIER) {
            ThreadState thread = threads[i];
            Barrier barrier = block.barriers[thread.barrier];
            if (barrier.phase() == phase[i]) {
                return false;
            }
            thread.result = barrier.outcome(thread.barrierOperation);
            return true;
        }
        return status[i] == ThreadStatus.AT_CLUSTER && block.cluster.phase != phase[i];
    }

    private void run(int from, int to) {
        try {
            program.run(threads, status, from, to);
        } catch (KernelTrap e) {
            throw fault(e.kind(), 0, e);
        } catch (MemoryFault e) {
            throw fault(e);
        } catch (StackOverflowError e) {
            throw fault(FaultKind.STACK_OVERFLOW, 0, e);
        }
        int left = 0;
        int yielded = 0;
        for (int i = from; i < to; i++) {
            byte now = status[i];
            if (now == ThreadStatus.EXITED) {
                left++;
            } else if (now == ThreadStatus.YIELDED) {
                yielded++;
            } else if (now == ThreadStatus.AT_BARRIER) {
                arrive(i);
            } else if (now == ThreadStatus.AT_CLUSTER) {
                phase[i] = threads[i].clusterPhase;
                advanced = true;
            }
        }
        spun |= yielded > 0;
        if (left > 0) {
            live -= left;
            block.ended = live == 0;
            block.cluster.live -= left;
            block.cluster.completeIfAll();
            advanced = true;
        }
    }

    private void arrive(int i) {
        ThreadState thread = threads[i];
        Barrier barrier = block.barriers[thread.barrier];
        phase[i] = barrier.phase();
        barrier.arrive(thread.barrierThreads, i, thread.value,
                thread.barrierOperation != BarrierOperation.NONE);
        advanced = true;
    }

    private KernelFault fault(MemoryFault e) {
        return fault(e.isMisaligned() ? FaultKind.MISALIGNED_ADDRESS : FaultKind.ILLEGAL_ADDRESS, e.address(), e);
    }

    /** A fault of the thread that runs. */
    private KernelFault fault(FaultKind kind, long address, Throwable cause) {
        return fault(kind, threads[block.running], address, cause);
    }

    private KernelFault fault(FaultKind kind, ThreadState thread, long address, Throwable cause) {
        return new KernelFault(kind, block.grid.kernel.name(), new Dim3(block.ctaidX, block.ctaidY, block.ctaidZ),
                new Dim3(thread.tidX, thread.tidY, thread.tidZ), address, cause);
    }

    /** Returns the fault of a block whose threads wait for each other. */
    KernelFault deadlock() {
        for (int i = 0; i < threads.length; i++) {
            if (status[i] != ThreadStatus.EXITED) {
                String where = status[i] == ThreadStatus.AT_BARRIER ? "barrier " + threads[i].barrier
                        : status[i] == ThreadStatus.AT_CLUSTER ? "the cluster's barrier"
                        : threads[i].operation + " with mask 0x" + Integer.toHexString(threads[i].mask);
                return fault(FaultKind.DEADLOCK, threads[i], 0, new IllegalStateException(
                        "the thread waits at " + where + " for others that never come"));
            }
        }
        throw new IllegalStateException("no thread is left");
    }
}

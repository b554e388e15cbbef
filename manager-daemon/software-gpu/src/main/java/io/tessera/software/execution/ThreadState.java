package io.tessera.software.execution;

import io.tessera.software.fault.FaultKind;
import io.tessera.software.fault.KernelTrap;
import io.tessera.software.memory.MemoryFault;

/** One CUDA thread. Accessed only by the host thread that runs its block. Fields are public because compiled kernels read and write them at every stop. */
public final class ThreadState {
    /** A function that the lanes of a warp compute together from several values of each. Immutable; used by many host threads at once. */
    public interface WarpFunction {
        /**
         * Takes {@link #values} of each lane, and puts results there.
         *
         * @param threads the block's threads
         * @param first   the warp's first thread
         * @param members the lanes that take part, the others have exited
         * @throws io.tessera.software.memory.MemoryFault if a lane's address is wrong; {@link BlockState#running} is that thread
         */
        void apply(ThreadState[] threads, int first, int members);
    }

    /** Loop passes that a thread may make before others get a turn. */
    public static final int BUDGET = 1 << 14;

    /** The block. */
    public BlockState block;
    /** Place in the block. */
    public int tidX;
    /** Place in the block. */
    public int tidY;
    /** Place in the block. */
    public int tidZ;
    /** Place in the warp, 0 to 31. */
    public int lane;
    /** The warp's number in the block. */
    public int warp;
    /** Real address of this thread's local memory. */
    public long localBase;
    /** Size of its local memory. */
    public int localBytes;
    /**
     * Loop passes left; one is taken off at each backward branch, and below zero the thread stops with YIELD. Compiled
     * code keeps it in a local.
     */
    public int budget;

    /** Point at which the program continues; 0 at the beginning. Otherwise its meaning is the program's own. */
    public int resumePoint;
    /** Values that compiled code keeps over a stop; the array belongs to the program, grows as needed, and is reused between blocks. */
    public long[] saved;
    /** State that the interpreter keeps over a stop; null at the beginning. */
    public Object frames;

    /** Request: what the warp does. */
    public WarpOperation operation;
    /** Request: member mask; where {@code converged} the number that tells the place in the program. */
    public int mask;
    /** Request: the members are those that are at this place when no lane can go on. */
    public boolean converged;
    /** Request: this lane's value (32 bits zero-extended, or 64), or its predicate as 0 or 1. */
    public long value;
    /** Request: PTX's operand b of shfl, source lane or distance. */
    public int laneOperand;
    /** Request: PTX's operand c of shfl, clamp and segment mask. */
    public int clamp;
    /** Request: what the warp computes, for FUNCTION. */
    public WarpFunction function;
    /** Request and result: this lane's values of {@code function}; kept for reuse. */
    public long[] values;
    /** Request: number of the block's barrier. */
    public int barrier;
    /** Request: threads that the barrier counts, or 0 for the whole block. */
    public int barrierThreads;
    /** Request: what the barrier computes from {@code value}. */
    public BarrierOperation barrierOperation;

    /** Phase of the cluster's barrier in which this thread has arrived and not yet waited. */
    public int clusterPhase;

    /** Result of the warp operation or barrier reduction; 32-bit results are zero-extended. */
    public long result;
    /** Predicate that came with it: shfl's source was in range, match.all agreed, elect chose this lane. */
    public boolean flag;

    /** Asks for a warp operation; the program returns the stop. */
    public StopReason askWarp(WarpOperation wanted, int members, long laneValue) {
        operation = wanted;
        mask = members;
        converged = false;
        value = laneValue;
        return StopReason.WARP;
    }

    /** Asks for what all lanes compute together of {@code values}; the program returns the stop. */
    public StopReason askFunction(WarpFunction wanted) {
        operation = WarpOperation.FUNCTION;
        function = wanted;
        mask = -1;
        converged = false;
        return StopReason.WARP;
    }

    /** Asks for a shuffle; the program returns the stop. */
    public StopReason askShuffle(WarpOperation wanted, int members, int laneValue, int b, int c) {
        operation = wanted;
        mask = members;
        converged = false;
        value = Integer.toUnsignedLong(laneValue);
        laneOperand = b;
        clamp = c;
        return StopReason.WARP;
    }

    /**
     * Turns the request into one of the lanes that are here together: activemask, and what PTX has without {@code .sync}.
     *
     * @param place number that tells this place in the program from others
     */
    public void askConverged(int place) {
        mask = place;
        converged = true;
    }

    /** Asks for a barrier; the program returns the stop. */
    public StopReason askBarrier(int number, int threads, BarrierOperation wanted, boolean predicate) {
        checkBarrier(number, threads);
        barrier = number;
        barrierThreads = threads;
        barrierOperation = wanted;
        value = predicate ? 1 : 0;
        return StopReason.BARRIER;
    }

    /** Arrives at a barrier without waiting. */
    public void arrive(int number, int threads) {
        checkBarrier(number, threads);
        block.barriers[number].arriveOnly(threads, linear());
    }

    /** Arrives at the cluster's barrier without waiting; a stop with CLUSTER waits for that phase's end. */
    public void arriveCluster() {
        BlockState.ClusterState cluster = block.cluster;
        clusterPhase = cluster.phase;
        cluster.arrived++;
        cluster.completeIfAll();
    }

    private static void checkBarrier(int number, int threads) {
        if (number < 0 || number >= BlockState.BARRIERS || threads < 0 || threads % 32 != 0) {
            throw new KernelTrap(FaultKind.ILLEGAL_INSTRUCTION,
                    "barrier " + number + " for " + threads + " threads does not exist");
        }
    }

    /**
     * Real address of local memory.
     *
     * @throws MemoryFault if the access is misaligned or outside this thread's local memory
     */
    public long local(long offset, int bytes) {
        if ((offset & bytes - 1) != 0) {
            throw new MemoryFault(true, offset, "access to local memory");
        }
        if (offset < 0 || offset > localBytes - bytes) {
            throw new MemoryFault(false, offset, "access to local memory (the thread has " + localBytes + " bytes)");
        }
        return localBase + offset;
    }

    /** Checks that a frame fits; called by a function before it uses its frame. */
    public void checkStack(long frameEnd) {
        if (frameEnd > localBytes) {
            throw new KernelTrap(FaultKind.STACK_OVERFLOW, "frames need " + frameEnd + " bytes of local memory, "
                    + "the thread has " + localBytes);
        }
    }

    /** Returns the thread's number in its block. */
    public int linear() {
        return warp * 32 + lane;
    }
}

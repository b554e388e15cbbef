package io.tessera.software.execution;

import io.tessera.software.fault.KernelTrap;

/** The program of a kernel's threads. One object serves all threads at once: what a thread has is in its state. */
public interface ThreadProgram {
    /**
     * Runs threads of one block in order, each from where it stopped, or from the beginning if
     * {@link ThreadState#resumePoint} is 0, until it stops again. A stop that waits for others has filled in the request
     * fields of the state; when the thread is resumed, the result fields hold what came of it. Several threads in one
     * call are one loop for the JIT compiler. {@link BlockState#running} always holds the number of the thread that
     * runs.
     *
     * @param threads the block's threads
     * @param status  takes {@link StopReason#status} of each that ran
     * @param first   the first to run
     * @param end     after the last to run, greater than {@code first}
     * @throws KernelTrap if the kernel does what ends its grid
     * @throws io.tessera.software.memory.MemoryFault if it accesses what it must not
     */
    void run(ThreadState[] threads, byte[] status, int first, int end);
}

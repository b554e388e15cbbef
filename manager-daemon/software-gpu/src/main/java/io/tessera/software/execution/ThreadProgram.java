package io.tessera.software.execution;

/** The program of a kernel's threads. One object serves all threads at once: what a thread has is in its state. */
public interface ThreadProgram {
    /**
     * Runs a thread from where it stopped, or from the beginning if {@link ThreadState#resumePoint} is 0, until it
     * stops again. A stop that waits for others has filled in the request fields of the state; when the thread is
     * resumed, the result fields hold what came of it.
     *
     * @return why it stopped
     * @throws KernelTrap if the kernel does what ends its grid
     * @throws io.tessera.software.memory.MemoryFault if it accesses what it must not
     */
    Stop resume(ThreadState thread);
}

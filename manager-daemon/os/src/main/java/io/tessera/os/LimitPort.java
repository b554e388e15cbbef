package io.tessera.os;

/** A process's own settings in the kernel: limits, which it cannot raise again, and its priority when memory runs out. */
public interface LimitPort {
    /**
     * Limits the private memory of this process from now on (RLIMIT_DATA), and switches core files off. Memory that it has already counts; address
     * space that is reserved and memory that is shared do not.
     *
     * @param bytes bytes of writable private memory, a multiple of the page size
     * @throws LinuxException if a smaller bound holds already
     */
    void dataBytes(long bytes) throws LinuxException;

    /**
     * Sets how early the kernel shall end this process, and those that it starts from now on, when memory runs out (proc(5), oom_score_adj).
     *
     * @param adjustment 1000: before all others, -1000: never; only root may lower the present value
     * @return whether the kernel took it
     */
    boolean endedEarly(int adjustment);
}

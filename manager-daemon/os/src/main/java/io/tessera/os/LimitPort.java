package io.tessera.os;

/** A process's own settings in the kernel: bounds, which it cannot take back, and its worth. */
public interface LimitPort {
    /**
     * From now on the process gets no private memory beyond a bound (RLIMIT_DATA), and leaves no core file. Memory that it has already
     * counts; address space that is reserved and memory that is shared do not.
     *
     * @param bytes of writable private memory, a multiple of the page size
     * @throws LinuxException if a smaller bound holds already
     */
    void dataBytes(long bytes) throws LinuxException;

    /**
     * Says how early the kernel shall end this process, and those that it starts from now on, where memory runs out (proc(5),
     * oom_score_adj).
     *
     * @param adjustment 1000: before all others, -1000: never; below what it is only root may go
     * @return whether the kernel took it
     */
    boolean endedEarly(int adjustment);
}

package io.tessera.os;

/** Waits for many descriptors at once, and wakes the waiting thread from another one. */
public interface PollPort {
    /** Interest and result: the descriptor can be read, or has ended. */
    int READABLE = 1;
    /** Interest and result: the descriptor can be written. */
    int WRITABLE = 4;

    /** Receives descriptors that are ready. */
    @FunctionalInterface
    interface Ready {
        /** The descriptor that was added with this token is ready; errors and ends count as {@link #READABLE}. */
        void ready(long token, int events);
    }

    /** Creates a poll set; the caller closes it. */
    int open() throws LinuxException;

    /** Adds a descriptor, level-triggered. */
    void add(int poll, int descriptor, int interest, long token) throws LinuxException;

    /** Changes the events that are waited for. */
    void change(int poll, int descriptor, int interest, long token) throws LinuxException;

    /** Removes a descriptor before it is closed. */
    void remove(int poll, int descriptor) throws LinuxException;

    /**
     * Waits until something is ready or the time is over, and reports at most one batch.
     *
     * @param timeoutNs nanoseconds, rounded up to milliseconds; 0: do not wait
     * @return the number of ready descriptors
     */
    int await(int poll, long timeoutNs, Ready ready) throws LinuxException;

    /** Creates a descriptor that becomes readable by {@link #wake}; the caller closes it. */
    int openWakeup() throws LinuxException;

    /** Makes the descriptor readable. May be called by any thread. */
    void wake(int wakeup) throws LinuxException;

    /** Makes the descriptor unreadable again. */
    void clearWakeup(int wakeup) throws LinuxException;

    /** Closes a descriptor. */
    void close(int descriptor) throws LinuxException;
}

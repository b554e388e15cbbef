package io.tessera.os;

import java.lang.foreign.MemorySegment;

/** Waits on a 32-bit word that processes share. Thread-safe. */
public interface FutexPort {
    /**
     * Sleeps while the word has a value. A wake-up, a signal and a timeout are the same to the caller, which reads the word again.
     *
     * @param word      four aligned bytes of shared memory
     * @param expected  value at which a sleep begins
     * @param timeoutNs nanoseconds, above 0
     * @throws LinuxException for any other error
     */
    void await(MemorySegment word, int expected, long timeoutNs) throws LinuxException;

    /** Wakes all threads that sleep on a word. */
    void wake(MemorySegment word) throws LinuxException;
}

package io.tessera.os;

import java.lang.foreign.MemorySegment;

/** Waiting on a 32-bit word that processes share. Thread-safe. */
public interface FutexPort {
    /**
     * Sleeps while the word has a value. A wake-up, a signal and the end of the time are the same to the caller, which looks at the word
     * again.
     *
     * @param word      four aligned bytes of shared memory
     * @param expected  what the word must be for a sleep to begin
     * @param timeoutNs nanoseconds, above 0
     * @throws LinuxException for anything that is none of these
     */
    void await(MemorySegment word, int expected, long timeoutNs) throws LinuxException;

    /** Wakes all that sleep on a word. */
    void wake(MemorySegment word) throws LinuxException;
}

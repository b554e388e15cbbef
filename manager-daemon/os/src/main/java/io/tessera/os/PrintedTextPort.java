package io.tessera.os;

import java.lang.foreign.MemorySegment;

/**
 * A file without a name that takes what this process prints, and gives it to a reader behind the writer. It never makes a writer wait, as a
 * pipe would whose reader is the writer itself. The caller owns the descriptor.
 */
public interface PrintedTextPort {
    /** Makes an empty one, closed on exec. */
    int create(String name) throws LinuxException;

    /** Has the C library write out what its streams hold back: a driver prints through them. */
    void flushStreams() throws LinuxException;

    /**
     * Reads from a position, also while others write.
     *
     * @return the bytes read; 0 at the end of what is written
     */
    int read(int descriptor, MemorySegment into, long position) throws LinuxException;

    /** Gives the memory before a position back; positions stay what they are. */
    void forget(int descriptor, long position) throws LinuxException;
}

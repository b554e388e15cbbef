package io.tessera.os;

import java.lang.foreign.MemorySegment;

/**
 * A file without a name that receives what this process prints, and lets a reader follow the writer. It never makes a writer wait, unlike a pipe
 * whose reader is the writer itself. The caller owns the descriptor.
 */
public interface PrintedTextPort {
    /** Creates an empty file, closed on exec. */
    int create(String name) throws LinuxException;

    /** Flushes the streams of the C library, through which a driver prints. */
    void flushStreams() throws LinuxException;

    /**
     * Reads from a position, also while others write.
     *
     * @return the number of bytes read; 0 at the end of the text
     */
    int read(int descriptor, MemorySegment into, long position) throws LinuxException;

    /** Releases the memory before a position; positions do not change. */
    void forget(int descriptor, long position) throws LinuxException;
}

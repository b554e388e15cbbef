package io.tessera.os;

import java.lang.foreign.MemorySegment;

/**
 * Files that another process has opened and passed on. Only the kernel's information about them is trusted. They are read and never mapped, because a
 * process that may shorten a mapped file can make every reader of it fault. The caller owns and closes the descriptors. Thread-safe.
 */
public interface ForeignFilePort {
    /** Returns the identity of the file of a descriptor. */
    FileIdentity identity(int descriptor) throws LinuxException;

    /**
     * Returns a private copy of a part of a file, page-aligned, which is released when nothing refers to it any more.
     *
     * @param offset offset from the file's start
     * @param bytes  number of bytes, at least one
     * @param gone   called when the memory was released
     * @return the bytes; null if the file ends before
     * @throws LinuxException if the file cannot be read or there is no memory
     */
    MemorySegment read(int descriptor, long offset, long bytes, Runnable gone) throws LinuxException;

    /** Closes a descriptor. */
    void close(int descriptor) throws LinuxException;
}

package io.tessera.os;

import java.lang.foreign.MemorySegment;

/**
 * Files that another process has opened and handed over. Nothing is believed of them but what the kernel says; they are read and never
 * mapped, because a process that may shorten a mapped file can make every reader of it fault. The caller owns and closes the descriptors.
 * Thread-safe.
 */
public interface ForeignFilePort {
    /** What a descriptor leads to. */
    FileIdentity identity(int descriptor) throws LinuxException;

    /**
     * A private copy of a part of a file, page-aligned, which goes when nobody refers to it any more.
     *
     * @param offset from the file's start
     * @param bytes  how many, at least one
     * @param gone   called when the memory was given back
     * @return the bytes; null if the file ends before
     * @throws LinuxException if the file cannot be read or there is no memory
     */
    MemorySegment read(int descriptor, long offset, long bytes, Runnable gone) throws LinuxException;

    /** Closes a descriptor. */
    void close(int descriptor) throws LinuxException;
}

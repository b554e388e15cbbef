package io.tessera.os;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Memory without a name that is handed to another process by descriptor. The caller owns the descriptors. */
public interface SharedMemoryPort {
    /**
     * Makes a memfd of fixed size, sealed against shrinking, growing and further seals, so that nobody who maps it can
     * be made to fault.
     *
     * @param name  for people, in {@code /proc/PID/maps}
     * @param bytes its size
     * @return the descriptor
     * @throws LinuxException if the kernel has no room
     */
    int create(String name, long bytes) throws LinuxException;

    /** Maps it readable and writable wherever there is room; unmapped when the arena closes. */
    MemorySegment map(int descriptor, long bytes, Arena arena) throws LinuxException;

    /**
     * Maps it at an address, over whatever is there: for an address range that the caller has reserved. When the arena
     * closes, nobody can access the range, and it still belongs to the process.
     *
     * @throws LinuxException if the kernel has no room
     */
    MemorySegment mapOver(int descriptor, long address, long bytes, Arena arena) throws LinuxException;

    /** Makes a pipe whose ends are non-blocking for the reader and closed on exec. */
    Pipe pipe() throws LinuxException;

    /** Writes to a descriptor of ours, all of it, without opening anything again. */
    void write(int descriptor, byte[] content) throws LinuxException;

    /** Makes {@code to} mean what {@code from} means; {@code from} stays open. */
    void duplicate(int from, int to) throws LinuxException;

    /** A second descriptor, above the standard ones, for what {@code from} means; closed on exec. */
    int copy(int from) throws LinuxException;

    /** Closes a descriptor. */
    void close(int descriptor) throws LinuxException;

    /**
     * Both ends of a pipe.
     *
     * @param readEnd  reads, never waits
     * @param writeEnd writes
     */
    record Pipe(int readEnd, int writeEnd) {
    }
}

package io.tessera.os;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Memory without a name that is passed to another process by descriptor. The caller owns the descriptors. */
public interface SharedMemoryPort {
    /**
     * Creates a memfd of fixed size, sealed against shrinking, growing and further seals, so that no process that maps it can be made to fault.
     *
     * @param name  name for people, in {@code /proc/PID/maps}
     * @param bytes size
     * @return the descriptor
     * @throws LinuxException if the kernel has no room
     */
    int create(String name, long bytes) throws LinuxException;

    /** Maps it readable and writable at any free address; unmapped when the arena closes. */
    MemorySegment map(int descriptor, long bytes, Arena arena) throws LinuxException;

    /**
     * Maps it at an address, over whatever is there: for an address range that the caller has reserved. After the arena closes, the range cannot be
     * accessed and still belongs to the process.
     *
     * @throws LinuxException if the kernel has no room
     */
    MemorySegment mapOver(int descriptor, long address, long bytes, Arena arena) throws LinuxException;

    /** Creates a pipe whose read end is non-blocking; both ends are closed on exec. */
    Pipe pipe() throws LinuxException;

    /** Writes all bytes to a descriptor of this process, without opening anything again. */
    void write(int descriptor, byte[] content) throws LinuxException;

    /** Makes {@code to} refer to what {@code from} refers to; {@code from} stays open. */
    void duplicate(int from, int to) throws LinuxException;

    /** Returns a second descriptor, above the standard ones, for the same file as {@code from}; closed on exec. */
    int copy(int from) throws LinuxException;

    /** Closes a descriptor. */
    void close(int descriptor) throws LinuxException;

    /**
     * Both ends of a pipe.
     *
     * @param readEnd  end to read from; never waits
     * @param writeEnd end to write to
     */
    record Pipe(int readEnd, int writeEnd) {
    }
}

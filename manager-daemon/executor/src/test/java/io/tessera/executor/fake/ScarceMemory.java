package io.tessera.executor.fake;

import io.tessera.os.Errno;
import io.tessera.os.LinuxException;
import io.tessera.os.SharedMemoryPort;
import io.tessera.os.linux.Linux;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;

/** The kernel's shared memory, of which there is none while {@link #full} says so. Thread-safe. */
public final class ScarceMemory implements SharedMemoryPort {
    private final SharedMemoryPort real = Linux.sharedMemory();
    /** Whether nothing can be made. */
    public volatile boolean full;
    /** A size of which nothing is made until it is another. */
    public volatile long slowBytes;
    /** Whether nothing can be mapped. */
    public volatile boolean unmappable;

    @Override
    public int create(String name, long bytes) throws LinuxException {
        if (full) {
            throw new LinuxException("memfd_create", name, Errno.ENOSPC);
        }
        while (bytes == slowBytes) {
            LockSupport.parkNanos(1_000_000L);
        }
        return real.create(name, bytes);
    }

    @Override
    public MemorySegment map(int descriptor, long bytes, Arena arena) throws LinuxException {
        if (unmappable) {
            throw new LinuxException("mmap", Integer.toString(descriptor), Errno.ENOMEM);
        }
        return real.map(descriptor, bytes, arena);
    }

    @Override
    public MemorySegment mapOver(int descriptor, long address, long bytes, Arena arena) throws LinuxException {
        if (unmappable) {
            throw new LinuxException("mmap", Integer.toString(descriptor), Errno.ENOMEM);
        }
        return real.mapOver(descriptor, address, bytes, arena);
    }

    @Override
    public Pipe pipe() throws LinuxException {
        return real.pipe();
    }

    @Override
    public void write(int descriptor, byte[] content) throws LinuxException {
        real.write(descriptor, content);
    }

    @Override
    public void duplicate(int from, int to) throws LinuxException {
        real.duplicate(from, to);
    }

    @Override
    public int copy(int from) throws LinuxException {
        return real.copy(from);
    }

    @Override
    public void close(int descriptor) throws LinuxException {
        real.close(descriptor);
    }
}

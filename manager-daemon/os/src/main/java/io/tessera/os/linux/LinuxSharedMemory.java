package io.tessera.os.linux;

import static io.tessera.os.LinuxException.checked;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.tessera.os.Errno;
import io.tessera.os.LinuxException;
import io.tessera.os.SharedMemoryPort;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** memfd_create, seals and fixed mappings of Linux (linux/memfd.h, linux/fcntl.h, asm-generic/mman.h). */
final class LinuxSharedMemory implements SharedMemoryPort {
    private static final int MFD_CLOEXEC = 1;
    private static final int MFD_ALLOW_SEALING = 2;
    private static final int F_SETFL = 4;
    private static final int F_DUPFD_CLOEXEC = 1030;
    /** First number of a copy: above the standard descriptors and the one that a manager may pass on. */
    private static final int FIRST_COPY = 10;
    private static final int F_ADD_SEALS = 1033;
    private static final int F_SEAL_SEAL_SHRINK_GROW = 1 | 2 | 4;
    private static final int PROT_NONE = 0;
    private static final int PROT_READ_WRITE = 1 | 2;
    private static final int MAP_SHARED = 1;
    private static final int MAP_FIXED = 0x10;
    /** MAP_PRIVATE, MAP_ANONYMOUS, MAP_NORESERVE. */
    private static final int MAP_NOTHING = 2 | 0x20 | 0x4000;
    private static final int O_CLOEXEC = 02000000;
    private static final int O_NONBLOCK = 04000;

    @Override
    public int create(String name, long bytes) throws LinuxException {
        int descriptor;
        try (Arena arena = Arena.ofConfined()) {
            descriptor = checked(LibC.memfdCreate(arena.allocateFrom(name), MFD_CLOEXEC | MFD_ALLOW_SEALING),
                    "memfd_create", name);
        }
        boolean done = false;
        try {
            checked(LibC.ftruncate(descriptor, bytes), "ftruncate", name);
            checked(LibC.fcntl(descriptor, F_ADD_SEALS, F_SEAL_SEAL_SHRINK_GROW), "fcntl F_ADD_SEALS", name);
            done = true;
            return descriptor;
        } finally {
            if (!done) {
                close(descriptor);
            }
        }
    }

    @Override
    public MemorySegment map(int descriptor, long bytes, Arena arena) throws LinuxException {
        return mapping(LibC.mmap(0, bytes, PROT_READ_WRITE, MAP_SHARED, descriptor), descriptor, bytes, arena);
    }

    @Override
    public MemorySegment mapOver(int descriptor, long address, long bytes, Arena arena) throws LinuxException {
        long got = LibC.mmap(address, bytes, PROT_READ_WRITE, MAP_SHARED | MAP_FIXED, descriptor);
        if (got < 0) {
            throw new LinuxException("mmap", "descriptor " + descriptor + " at 0x" + Long.toHexString(address), (int) -got);
        }
        return MemorySegment.ofAddress(address).reinterpret(bytes, arena,
                region -> LibC.mmap(address, bytes, PROT_NONE, MAP_NOTHING | MAP_FIXED, -1)); // takes no memory
    }

    private static MemorySegment mapping(long address, int descriptor, long bytes, Arena arena)
            throws LinuxException {
        if (address < 0) {
            throw new LinuxException("mmap", "descriptor " + descriptor, (int) -address);
        }
        return MemorySegment.ofAddress(address).reinterpret(bytes, arena,
                region -> LibC.munmap(region, bytes)); // fails only for an address that this process does not own
    }

    @Override
    public Pipe pipe() throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pair = arena.allocate(8, 4);
            checked(LibC.pipe2(pair, O_CLOEXEC), "pipe2", "");
            int readEnd = pair.get(JAVA_INT, 0);
            checked(LibC.fcntl(readEnd, F_SETFL, O_NONBLOCK), "fcntl F_SETFL", readEnd);
            return new Pipe(readEnd, pair.get(JAVA_INT, 4));
        }
    }

    @Override
    public void write(int descriptor, byte[] content) throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocateFrom(ValueLayout.JAVA_BYTE, content);
            long written = 0;
            while (written < content.length) {
                long result = LibC.write(descriptor, from.asSlice(written), content.length - written);
                if (result != -Errno.EINTR) {
                    written += checked(Math.toIntExact(result), "write", descriptor);
                }
            }
        }
    }

    @Override
    public void duplicate(int from, int to) throws LinuxException {
        checked(LibC.dup2(from, to), "dup2", from + ", " + to);
    }

    @Override
    public int copy(int from) throws LinuxException {
        return checked(LibC.fcntl(from, F_DUPFD_CLOEXEC, FIRST_COPY), "fcntl F_DUPFD", from);
    }

    @Override
    public void close(int descriptor) throws LinuxException {
        checked(LibC.close(descriptor), "close", descriptor);
    }
}

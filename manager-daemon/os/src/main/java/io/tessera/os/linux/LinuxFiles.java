package io.tessera.os.linux;

import static io.tessera.os.LinuxException.checked;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.tessera.os.Errno;
import io.tessera.os.FilePort;
import io.tessera.os.FileStatus;
import io.tessera.os.LinuxException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Files of Linux. {@code statx} is used because its structure is the same on every architecture. */
final class LinuxFiles implements FilePort {
    private static final int O_RDWR = 2;
    private static final int O_WRONLY = 1;
    private static final int O_CREAT = 0100;
    private static final int O_APPEND = 02000;
    private static final int O_EXCL = 0200;
    private static final int O_CLOEXEC = 02000000;
    /** These two have other numbers on AArch64 (asm/fcntl.h). */
    private static final boolean ARM = System.getProperty("os.arch").equals("aarch64");
    private static final int O_DIRECTORY = ARM ? 040000 : 0200000;
    private static final int O_NONBLOCK = 04000;
    private static final int O_NOFOLLOW = ARM ? 0100000 : 0400000;
    private static final int AT_EMPTY_PATH = 0x1000;
    private static final int STATX_BASIC_STATS = 0x7ff;
    private static final int STATX_BYTES = 256;
    private static final int STATX_UID = 20;
    private static final int STATX_MODE = 28;
    private static final int STATX_INODE = 32;
    private static final int STATX_SIZE = 40;
    private static final int LOCK_EX_NB = 2 | 4;
    private static final int PROT_READ = 1;
    private static final int PROT_WRITE = 2;
    private static final int MAP_SHARED = 1;
    /** fchown: leave the group as it is. */
    private static final int UNCHANGED = -1;

    @Override
    public boolean makeDirectory(Path path, int permissions) throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            int result = LibC.mkdir(arena.allocateFrom(path.toString()), permissions);
            if (result == -Errno.EEXIST) {
                return false;
            }
            checked(result, "mkdir", path);
            return true;
        }
    }

    @Override
    public int open(Path path, Open how, int permissions) throws LinuxException {
        int flags = O_CLOEXEC | O_NOFOLLOW | switch (how) {
            case DIRECTORY -> O_DIRECTORY;
            case CREATE_NEW -> O_RDWR | O_CREAT | O_EXCL;
            case CREATE -> O_RDWR | O_CREAT;
            case APPEND -> O_WRONLY | O_CREAT | O_APPEND;
            case READ -> O_NONBLOCK; // opening a FIFO would wait for a writer
        };
        try (Arena arena = Arena.ofConfined()) {
            return checked(LibC.open(arena.allocateFrom(path.toString()), flags, permissions), "open", path);
        }
    }

    @Override
    public FileStatus status(int descriptor) throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment status = arena.allocate(STATX_BYTES, 8);
            checked(LibC.statx(descriptor, arena.allocateFrom(""), AT_EMPTY_PATH, STATX_BASIC_STATS, status), "statx",
                    descriptor);
            return new FileStatus(status.get(JAVA_INT, STATX_UID),
                    Short.toUnsignedInt(status.get(JAVA_SHORT, STATX_MODE)), status.get(JAVA_LONG, STATX_INODE),
                    status.get(JAVA_LONG, STATX_SIZE));
        }
    }

    @Override
    public void permissions(int descriptor, int permissions) throws LinuxException {
        checked(LibC.fchmod(descriptor, permissions), "fchmod", descriptor);
    }

    @Override
    public void owner(int descriptor, int uid) throws LinuxException {
        checked(LibC.fchown(descriptor, uid, UNCHANGED), "fchown", descriptor);
    }

    @Override
    public int reserve(int descriptor, long bytes) {
        int result;
        do {
            result = LibC.posixFallocate(descriptor, bytes);
        } while (result == -Errno.EINTR);
        return -result;
    }

    @Override
    public boolean lock(int descriptor) throws LinuxException {
        int result = LibC.flock(descriptor, LOCK_EX_NB);
        if (result == -Errno.EAGAIN) {
            return false;
        }
        checked(result, "flock", descriptor);
        return true;
    }

    @Override
    public void write(int descriptor, byte[] content) throws LinuxException {
        checked(LibC.ftruncate(descriptor, 0), "ftruncate", descriptor);
        try (Arena arena = Arena.ofConfined()) {
            long written = LibC.write(descriptor, arena.allocateFrom(JAVA_BYTE, content), content.length);
            checked(Math.toIntExact(written), "write", descriptor);
            if (written != content.length) {
                throw new LinuxException("write", "descriptor " + descriptor, Errno.ENOSPC);
            }
        }
    }

    @Override
    public byte[] read(int descriptor, int maxBytes) throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment into = arena.allocate(maxBytes);
            int bytes = checked(Math.toIntExact(LibC.read(descriptor, into, maxBytes)), "read", descriptor);
            return into.asSlice(0, bytes).toArray(JAVA_BYTE);
        }
    }

    @Override
    public MemorySegment map(int descriptor, long bytes, boolean writable, Arena arena) throws LinuxException {
        long address = LibC.mmap(0, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, descriptor);
        if (address < 0) {
            throw new LinuxException("mmap", "descriptor " + descriptor, (int) -address);
        }
        MemorySegment mapped = MemorySegment.ofAddress(address).reinterpret(bytes, arena,
                region -> LibC.munmap(region, bytes)); // fails only for an address that this process does not own
        return writable ? mapped : mapped.asReadOnly();
    }

    @Override
    public boolean remove(Path path) throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            int result = LibC.unlink(arena.allocateFrom(path.toString()));
            if (result == -Errno.ENOENT) {
                return false;
            }
            checked(result, "unlink", path);
            return true;
        }
    }

    @Override
    public void rename(Path from, Path to) throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            checked(LibC.rename(arena.allocateFrom(from.toString()), arena.allocateFrom(to.toString())), "rename", from);
        }
    }

    @Override
    public List<Path> list(Path directory) throws IOException {
        try (Stream<Path> names = Files.list(directory)) {
            return names.sorted().toList();
        }
    }

    @Override
    public void close(int descriptor) throws LinuxException {
        checked(LibC.close(descriptor), "close", descriptor);
    }
}

package io.tessera.os.linux;

import static io.tessera.os.LinuxException.checked;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.tessera.os.Errno;
import io.tessera.os.FileIdentity;
import io.tessera.os.ForeignFilePort;
import io.tessera.os.LinuxException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** {@code statx} and {@code pread} of Linux; offsets are those of the kernel's {@code struct statx}. */
final class LinuxForeignFiles implements ForeignFilePort {
    private static final int AT_EMPTY_PATH = 0x1000;
    private static final int STATX_BASIC_STATS = 0x7ff;
    private static final int STATX_BYTES = 256;
    private static final int MODE = 28;
    private static final int INODE = 32;
    private static final int SIZE = 40;
    private static final int CHANGED = 96;
    private static final int MODIFIED = 112;
    private static final int DEVICE_MAJOR = 136;
    private static final int DEVICE_MINOR = 140;
    private static final int TYPE_MASK = 0170000;
    private static final int REGULAR = 0100000;
    private static final long SECOND_NS = 1_000_000_000L;
    private static final int PROT_READ_WRITE = 1 | 2;
    /** MAP_PRIVATE, MAP_ANONYMOUS. */
    private static final int MAP_MEMORY = 2 | 0x20;
    private static final int MADV_HUGEPAGE = 14;

    @Override
    public FileIdentity identity(int descriptor) throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment status = arena.allocate(STATX_BYTES, 8);
            checked(LibC.statx(descriptor, arena.allocateFrom(""), AT_EMPTY_PATH, STATX_BASIC_STATS, status), "statx",
                    descriptor);
            return new FileIdentity((status.get(JAVA_SHORT, MODE) & TYPE_MASK) == REGULAR,
                    Integer.toUnsignedLong(status.get(JAVA_INT, DEVICE_MAJOR)) << Integer.SIZE
                            | Integer.toUnsignedLong(status.get(JAVA_INT, DEVICE_MINOR)),
                    status.get(JAVA_LONG, INODE), status.get(JAVA_LONG, SIZE), timeNs(status, MODIFIED),
                    timeNs(status, CHANGED));
        }
    }

    private static long timeNs(MemorySegment status, int at) {
        return status.get(JAVA_LONG, at) * SECOND_NS + status.get(JAVA_INT, at + Long.BYTES);
    }

    @Override
    public MemorySegment read(int descriptor, long offset, long bytes, Runnable gone) throws LinuxException {
        long address = LibC.mmap(0, bytes, PROT_READ_WRITE, MAP_MEMORY, -1);
        if (address < 0) {
            throw new LinuxException("mmap", bytes + " bytes", (int) -address);
        }
        MemorySegment memory = MemorySegment.ofAddress(address).reinterpret(bytes);
        boolean whole = false;
        try {
            // Half of the time is the kernel's clearing of small pages. A kernel without large pages refuses, which does no harm.
            LibC.madvise(memory, bytes, MADV_HUGEPAGE);
            whole = fill(descriptor, offset, memory);
        } finally {
            if (!whole) {
                LibC.munmap(memory, bytes); // fails only for an address that this process does not own
            }
        }
        return !whole ? null : memory.reinterpret(bytes, Arena.ofAuto(), region -> {
            LibC.munmap(region, bytes);
            gone.run();
        }).asReadOnly();
    }

    private static boolean fill(int descriptor, long offset, MemorySegment memory) throws LinuxException {
        long done = 0;
        while (done < memory.byteSize()) {
            long read = LibC.pread(descriptor, memory.asSlice(done), memory.byteSize() - done, offset + done);
            if (read == 0) {
                return false;
            }
            if (read != -Errno.EINTR) {
                done += checkedLong(read, descriptor);
            }
        }
        return true;
    }

    private static long checkedLong(long result, int descriptor) throws LinuxException {
        if (result < 0) {
            throw new LinuxException("pread", "descriptor " + descriptor, (int) -result);
        }
        return result;
    }

    @Override
    public void close(int descriptor) throws LinuxException {
        checked(LibC.close(descriptor), "close", descriptor);
    }
}

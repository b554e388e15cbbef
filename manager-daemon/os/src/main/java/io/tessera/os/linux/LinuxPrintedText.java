package io.tessera.os.linux;

import static io.tessera.os.LinuxException.checked;

import io.tessera.os.Errno;
import io.tessera.os.LinuxException;
import io.tessera.os.PrintedTextPort;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A memfd whose read part is punched out (linux/memfd.h, linux/falloc.h). Stateless. */
final class LinuxPrintedText implements PrintedTextPort {
    private static final int MFD_CLOEXEC = 1;
    private static final int PUNCH_HOLE_AND_KEEP_SIZE = 2 | 1;

    @Override
    public int create(String name) throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            return checked(LibC.memfdCreate(arena.allocateFrom(name), MFD_CLOEXEC), "memfd_create", name);
        }
    }

    @Override
    public void flushStreams() throws LinuxException {
        checked(LibC.fflush(MemorySegment.NULL), "fflush", "all streams");
    }

    @Override
    public int read(int descriptor, MemorySegment into, long position) throws LinuxException {
        long result;
        do {
            result = LibC.pread(descriptor, into, into.byteSize(), position);
        } while (result == -Errno.EINTR);
        return checked(Math.toIntExact(result), "pread", descriptor);
    }

    @Override
    public void forget(int descriptor, long position) throws LinuxException {
        if (position > 0) {
            checked(LibC.fallocate(descriptor, PUNCH_HOLE_AND_KEEP_SIZE, 0, position), "fallocate", descriptor);
        }
    }
}

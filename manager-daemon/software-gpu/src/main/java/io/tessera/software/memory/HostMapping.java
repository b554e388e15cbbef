package io.tessera.software.memory;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/** The operating system's calls for address ranges. Constants are those of Linux on x86-64. Thread-safe. */
final class HostMapping {
    private static final int PROT_NONE = 0;
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_SHARED = 1;
    private static final int MAP_PRIVATE = 2;
    private static final int MAP_FIXED = 0x10;
    private static final int MAP_ANONYMOUS = 0x20;
    private static final int MAP_NORESERVE = 0x4000;
    private static final int MAP_FIXED_NOREPLACE = 0x100000;
    private static final int EEXIST = 17;
    private static final int ENOMEM = 12;
    private static final int MADV_DONTNEED = 4;
    private static final int MFD_CLOEXEC = 1;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final VarHandle ERRNO = Linker.Option.captureStateLayout().varHandle(PathElement.groupElement("errno"));
    private static final MethodHandle MMAP = handle("mmap",
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle MUNMAP = handle("munmap", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle MADVISE = handle("madvise", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final MethodHandle MEMFD_CREATE = handle("memfd_create", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle FTRUNCATE = handle("ftruncate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle CLOSE = handle("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));

    private HostMapping() {
    }

    private static MethodHandle handle(String name, FunctionDescriptor type) {
        return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name), type,
                Linker.Option.captureCallState("errno"));
    }

    /** A native call with the place for its error number. */
    @FunctionalInterface
    private interface Call {
        long with(MemorySegment state) throws Throwable;
    }

    private static long call(String name, Call call) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Linker.Option.captureStateLayout());
            long result = call.with(state);
            if (result == -1) {
                throw new HostMemoryException(name, (int) ERRNO.get(state, 0L));
            }
            return result;
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("native call failed outside the C library", e);
        }
    }

    /** Reserves and maps a private range that takes no memory before it is touched; returns its address. */
    static long map(long bytes) {
        return call("mmap", s -> (long) MMAP.invokeExact(s, 0L, bytes, PROT_READ_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L));
    }

    /** Reserves a range without access; returns its address. */
    static long reserve(long bytes) {
        return call("mmap", s -> (long) MMAP.invokeExact(s, 0L, bytes, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L));
    }

    /** Maps a private range at an address if nothing is there and the process may have it; false if not. */
    static boolean mapAt(long address, long bytes) {
        try {
            long at = call("mmap", s -> (long) MMAP.invokeExact(s, address, bytes, PROT_READ_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0L));
            if (at != address) { // a kernel before 4.17 takes the address for a hint
                unmap(at, bytes);
            }
            return at == address;
        } catch (HostMemoryException e) {
            if (e.errno() == EEXIST || e.errno() == ENOMEM) {
                return false;
            }
            throw e;
        }
    }

    /** Replaces pages by fresh private ones, which read as zero. */
    static void mapPrivate(long address, long bytes) {
        call("mmap", s -> (long) MMAP.invokeExact(s, address, bytes, PROT_READ_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0L));
    }

    /** Replaces pages by a piece of a file. */
    static void mapFile(long address, long bytes, int fd, long offset) {
        call("mmap", s -> (long) MMAP.invokeExact(s, address, bytes, PROT_READ_WRITE, MAP_SHARED | MAP_FIXED, fd,
                offset));
    }

    /** Gives a range back. */
    static void unmap(long address, long bytes) {
        call("munmap", s -> (int) MUNMAP.invokeExact(s, address, bytes));
    }

    /** Gives the memory behind private pages back; they read as zero afterwards. */
    static void discard(long address, long bytes) {
        call("madvise", s -> (int) MADVISE.invokeExact(s, address, bytes, MADV_DONTNEED));
    }

    /** Makes a file that lives in memory only; the caller closes the descriptor. */
    static int memoryFile(long bytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocateFrom("tessera-software-gpu");
            int fd = (int) call("memfd_create", s -> (int) MEMFD_CREATE.invokeExact(s, name, MFD_CLOEXEC));
            call("ftruncate", s -> (int) FTRUNCATE.invokeExact(s, fd, bytes));
            return fd;
        }
    }

    /** Closes a descriptor. */
    static void close(int fd) {
        call("close", s -> (int) CLOSE.invokeExact(s, fd));
    }
}

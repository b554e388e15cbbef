package io.tessera.os.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * The C library's functions, one method each, under their own names. Every method returns the function's result, or minus the error number if the
 * function failed. Thread-safe; no method allocates native memory.
 *
 * <p>All functions are called in four shapes, which differ in the position of memory among the arguments. Linking a shape costs 15 ms in every
 * process that starts, and a shape for each function's own type cost 0.4 s. The calling conventions of Linux (System V for x86-64, AAPCS64) allow it.
 * An int is the lower half of a register, of which the rest is not read, nor are the registers of arguments that a function does not have. A function
 * with variable arguments finds integers where others do.
 */
final class LibC {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final StructLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = STATE.varHandle(PathElement.groupElement("errno"));
    /** Memory in which a call leaves its error number; one per thread, because two threads may be inside a call. */
    private static final ThreadLocal<MemorySegment> CALL_STATE = ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(STATE));

    private static final MethodHandle NUMBERS = way(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle FIRST = way(ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle SECOND = way(JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS);
    private static final MethodHandle FOURTH = way(JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, ADDRESS);

    private static final MemorySegment ACCEPT4 = function("accept4");
    private static final MemorySegment BIND = function("bind");
    private static final MemorySegment CHMOD = function("chmod");
    private static final MemorySegment CLOCK_GETTIME = function("clock_gettime");
    private static final MemorySegment CLOSE = function("close");
    private static final MemorySegment CONNECT = function("connect");
    private static final MemorySegment DUP2 = function("dup2");
    private static final MemorySegment EPOLL_CREATE1 = function("epoll_create1");
    private static final MemorySegment EPOLL_CTL = function("epoll_ctl");
    private static final MemorySegment EPOLL_WAIT = function("epoll_wait");
    private static final MemorySegment EVENTFD = function("eventfd");
    private static final MemorySegment FALLOCATE = function("fallocate");
    private static final MemorySegment FCHMOD = function("fchmod");
    private static final MemorySegment FCHOWN = function("fchown");
    private static final MemorySegment FCNTL = function("fcntl");
    private static final MemorySegment FFLUSH = function("fflush");
    private static final MemorySegment FLOCK = function("flock");
    private static final MemorySegment FTRUNCATE = function("ftruncate");
    private static final MemorySegment GETPID = function("getpid");
    private static final MemorySegment GETSOCKOPT = function("getsockopt");
    private static final MemorySegment GETUID = function("getuid");
    private static final MemorySegment LISTEN = function("listen");
    private static final MemorySegment MADVISE = function("madvise");
    private static final MemorySegment MEMFD_CREATE = function("memfd_create");
    private static final MemorySegment MKDIR = function("mkdir");
    private static final MemorySegment MMAP = function("mmap");
    private static final MemorySegment MREMAP = function("mremap");
    private static final MemorySegment MUNMAP = function("munmap");
    private static final MemorySegment OPEN = function("open");
    private static final MemorySegment PIPE2 = function("pipe2");
    private static final MemorySegment POSIX_FALLOCATE = function("posix_fallocate");
    private static final MemorySegment PREAD = function("pread");
    private static final MemorySegment READ = function("read");
    private static final MemorySegment RECV = function("recv");
    private static final MemorySegment RECVMSG = function("recvmsg");
    private static final MemorySegment SEND = function("send");
    private static final MemorySegment SENDMSG = function("sendmsg");
    private static final MemorySegment SETRLIMIT = function("setrlimit");
    private static final MemorySegment SETSID = function("setsid");
    private static final MemorySegment SHUTDOWN = function("shutdown");
    private static final MemorySegment SOCKET = function("socket");
    private static final MemorySegment RENAME = function("rename");
    private static final MemorySegment SOCKETPAIR = function("socketpair");
    private static final MemorySegment STATX = function("statx");
    private static final MemorySegment SYSCALL = function("syscall");
    private static final MemorySegment UNLINK = function("unlink");
    private static final MemorySegment WRITE = function("write");

    private LibC() {
    }

    private static MethodHandle way(MemoryLayout... arguments) {
        return LINKER.downcallHandle(FunctionDescriptor.of(JAVA_LONG, arguments), Linker.Option.captureCallState("errno"));
    }

    private static MemorySegment function(String name) {
        return LINKER.defaultLookup().findOrThrow(name);
    }

    /** Calls a function that takes no memory, or takes addresses as numbers. */
    private static long numbers(MemorySegment function, long first, long second, long third, long fourth, long fifth, long sixth) {
        try {
            return (long) NUMBERS.invokeExact(function, CALL_STATE.get(), first, second, third, fourth, fifth, sixth);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private static long numbers(MemorySegment function, long first, long second, long third) {
        return numbers(function, first, second, third, 0, 0, 0);
    }

    /** Calls a function whose first argument is memory. */
    private static long first(MemorySegment function, MemorySegment first, long second, long third, long fourth) {
        try {
            return (long) FIRST.invokeExact(function, CALL_STATE.get(), first, second, third, fourth);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private static long first(MemorySegment function, MemorySegment first, long second) {
        return first(function, first, second, 0, 0);
    }

    /** Calls a function whose second argument is memory, and the fifth if it has one. */
    private static long second(MemorySegment function, long first, MemorySegment second, long third, long fourth,
            MemorySegment fifth) {
        try {
            return (long) SECOND.invokeExact(function, CALL_STATE.get(), first, second, third, fourth, fifth);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private static long second(MemorySegment function, long first, MemorySegment second, long third, long fourth) {
        return second(function, first, second, third, fourth, MemorySegment.NULL);
    }

    /** Calls a function whose fourth argument is memory, and the fifth if it has one. */
    private static long fourth(MemorySegment function, long first, long second, long third, MemorySegment fourth,
            MemorySegment fifth) {
        try {
            return (long) FOURTH.invokeExact(function, CALL_STATE.get(), first, second, third, fourth, fifth);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Wraps an error that occurs only for memory that is closed: a downcall handle otherwise throws only if it is called with wrong types. */
    private static RuntimeException unexpected(Throwable e) {
        return switch (e) {
            case RuntimeException already -> already;
            case Error error -> throw error;
            default -> new IllegalStateException("native call failed outside the C library", e);
        };
    }

    /** Converts the result of a function that returns an int: -1 becomes minus the error number. */
    private static int intOf(long returned) {
        return (int) returned == -1 ? -errno() : (int) returned;
    }

    /** Converts the result of a function that returns a long: -1 becomes minus the error number. */
    private static long longOf(long returned) {
        return returned == -1 ? -errno() : returned;
    }

    private static int errno() {
        return (int) ERRNO.get(CALL_STATE.get(), 0L);
    }

    static int accept4(int fd, int flags) {
        return intOf(numbers(ACCEPT4, fd, 0, 0, flags, 0, 0));
    }

    static int bind(int fd, MemorySegment address, int bytes) {
        return intOf(second(BIND, fd, address, bytes, 0));
    }

    static int chmod(MemorySegment path, int mode) {
        return intOf(first(CHMOD, path, mode));
    }

    static int clockGettime(int clock, MemorySegment timespec) {
        return intOf(second(CLOCK_GETTIME, clock, timespec, 0, 0));
    }

    static int close(int fd) {
        return intOf(numbers(CLOSE, fd, 0, 0));
    }

    static int connect(int fd, MemorySegment address, int bytes) {
        return intOf(second(CONNECT, fd, address, bytes, 0));
    }

    static int epollCreate1(int flags) {
        return intOf(numbers(EPOLL_CREATE1, flags, 0, 0));
    }

    static int epollCtl(int epoll, int operation, int fd, MemorySegment event) {
        return intOf(fourth(EPOLL_CTL, epoll, operation, fd, event, MemorySegment.NULL));
    }

    static int epollWait(int epoll, MemorySegment events, int capacity, int timeoutMs) {
        return intOf(second(EPOLL_WAIT, epoll, events, capacity, timeoutMs));
    }

    static int eventfd(int initial, int flags) {
        return intOf(numbers(EVENTFD, initial, flags, 0));
    }

    static int fchmod(int fd, int mode) {
        return intOf(numbers(FCHMOD, fd, mode, 0));
    }

    static int fchown(int fd, int uid, int gid) {
        return intOf(numbers(FCHOWN, fd, uid, gid));
    }

    static int flock(int fd, int operation) {
        return intOf(numbers(FLOCK, fd, operation, 0));
    }

    static int ftruncate(int fd, long bytes) {
        return intOf(numbers(FTRUNCATE, fd, bytes, 0));
    }

    static int getpid() {
        return intOf(numbers(GETPID, 0, 0, 0));
    }

    static int getsockopt(int fd, int level, int option, MemorySegment value, MemorySegment bytes) {
        return intOf(fourth(GETSOCKOPT, fd, level, option, value, bytes));
    }

    static int setsid() {
        return intOf(numbers(SETSID, 0, 0, 0));
    }

    static int getuid() {
        return intOf(numbers(GETUID, 0, 0, 0));
    }

    static int listen(int fd, int backlog) {
        return intOf(numbers(LISTEN, fd, backlog, 0));
    }

    static int mkdir(MemorySegment path, int mode) {
        return intOf(first(MKDIR, path, mode));
    }

    /** Returns the address, or minus the error number (no user address is that high). */
    static long mmap(long address, long bytes, int protection, int flags, int fd) {
        return longOf(numbers(MMAP, address, bytes, protection, flags, fd, 0));
    }

    static int madvise(MemorySegment address, long bytes, int advice) {
        return intOf(first(MADVISE, address, bytes, advice, 0));
    }

    static int memfdCreate(MemorySegment name, int flags) {
        return intOf(first(MEMFD_CREATE, name, flags));
    }

    static int pipe2(MemorySegment pair, int flags) {
        return intOf(first(PIPE2, pair, flags));
    }

    static int dup2(int from, int to) {
        return intOf(numbers(DUP2, from, to, 0));
    }

    static int fcntl(int fd, int command, int argument) {
        return intOf(numbers(FCNTL, fd, command, argument));
    }

    /** Returns the address, or minus the error number. */
    static long mremap(MemorySegment address, long bytes, long newBytes, int flags) {
        return longOf(first(MREMAP, address, bytes, newBytes, flags));
    }

    static int munmap(MemorySegment address, long bytes) {
        return intOf(first(MUNMAP, address, bytes));
    }

    static int open(MemorySegment path, int flags, int mode) {
        return intOf(first(OPEN, path, flags, mode, 0));
    }

    /** Returns 0, or minus the error number; this function returns its error and does not set errno. */
    static int posixFallocate(int fd, long bytes) {
        return -intOf(numbers(POSIX_FALLOCATE, fd, 0, bytes));
    }

    static int fallocate(int fd, int mode, long offset, long bytes) {
        return intOf(numbers(FALLOCATE, fd, mode, offset, bytes, 0, 0));
    }

    static int fflush(MemorySegment stream) {
        return intOf(first(FFLUSH, stream, 0));
    }

    static long pread(int fd, MemorySegment into, long bytes, long offset) {
        return longOf(second(PREAD, fd, into, bytes, offset));
    }

    static long read(int fd, MemorySegment into, long bytes) {
        return longOf(second(READ, fd, into, bytes, 0));
    }

    static long recv(int fd, MemorySegment into, long bytes, int flags) {
        return longOf(second(RECV, fd, into, bytes, flags));
    }

    static long recvmsg(int fd, MemorySegment message, int flags) {
        return longOf(second(RECVMSG, fd, message, flags, 0));
    }

    static long send(int fd, MemorySegment from, long bytes, int flags) {
        return longOf(second(SEND, fd, from, bytes, flags));
    }

    static long sendmsg(int fd, MemorySegment message, int flags) {
        return longOf(second(SENDMSG, fd, message, flags, 0));
    }

    static int setrlimit(int resource, MemorySegment both) {
        return intOf(second(SETRLIMIT, resource, both, 0, 0));
    }

    static int shutdown(int fd, int how) {
        return intOf(numbers(SHUTDOWN, fd, how, 0));
    }

    static int socket(int domain, int type, int protocol) {
        return intOf(numbers(SOCKET, domain, type, protocol));
    }

    static int socketpair(int domain, int type, int protocol, MemorySegment both) {
        return intOf(fourth(SOCKETPAIR, domain, type, protocol, both, MemorySegment.NULL));
    }

    /** Renames a file; both paths need to be valid only during the call. */
    static int rename(MemorySegment from, MemorySegment to) {
        return intOf(first(RENAME, from, to.address()));
    }

    static int statx(int directory, MemorySegment path, int flags, int mask, MemorySegment into) {
        return intOf(second(STATX, directory, path, flags, mask, into));
    }

    static long syscall(long number, long first, long second, long third, long fourth) {
        return longOf(numbers(SYSCALL, number, first, second, third, fourth, 0));
    }

    static int unlink(MemorySegment path) {
        return intOf(first(UNLINK, path, 0));
    }

    static long write(int fd, MemorySegment from, long bytes) {
        return longOf(second(WRITE, fd, from, bytes, 0));
    }
}

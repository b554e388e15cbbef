package io.tessera.os;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
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
import java.util.Arrays;
import java.util.stream.Stream;

/**
 * The C library's functions, one method each, under their own names. Every method returns what the function returned,
 * or minus the error number where the function failed. Thread-safe; no method allocates native memory.
 */
final class LibC {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final StructLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = STATE.varHandle(PathElement.groupElement("errno"));
    /** Where a call leaves its error number; one per thread, because two threads may be inside a call. */
    private static final ThreadLocal<MemorySegment> CALL_STATE =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(STATE));

    private static final MethodHandle ACCEPT4 = ints("accept4", JAVA_INT, ADDRESS, ADDRESS, JAVA_INT);
    private static final MethodHandle BIND = ints("bind", JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle CHMOD = ints("chmod", ADDRESS, JAVA_INT);
    private static final MethodHandle CLOCK_GETTIME = ints("clock_gettime", JAVA_INT, ADDRESS);
    private static final MethodHandle CLOSE = ints("close", JAVA_INT);
    private static final MethodHandle CONNECT = ints("connect", JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle EPOLL_CREATE1 = ints("epoll_create1", JAVA_INT);
    private static final MethodHandle EPOLL_CTL = ints("epoll_ctl", JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS);
    private static final MethodHandle EPOLL_WAIT = ints("epoll_wait", JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT);
    private static final MethodHandle EVENTFD = ints("eventfd", JAVA_INT, JAVA_INT);
    private static final MethodHandle FALLOCATE = ints("fallocate", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle FCHMOD = ints("fchmod", JAVA_INT, JAVA_INT);
    private static final MethodHandle FCHOWN = ints("fchown", JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle FFLUSH = ints("fflush", ADDRESS);
    private static final MethodHandle FLOCK = ints("flock", JAVA_INT, JAVA_INT);
    private static final MethodHandle FTRUNCATE = ints("ftruncate", JAVA_INT, JAVA_LONG);
    private static final MethodHandle GETPID = ints("getpid");
    private static final MethodHandle GETSOCKOPT =
            ints("getsockopt", JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS);
    private static final MethodHandle GETUID = ints("getuid");
    private static final MethodHandle FCNTL = handle("fcntl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT,
            JAVA_INT), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle LISTEN = ints("listen", JAVA_INT, JAVA_INT);
    private static final MethodHandle MADVISE = ints("madvise", ADDRESS, JAVA_LONG, JAVA_INT);
    private static final MethodHandle MEMFD_CREATE = ints("memfd_create", ADDRESS, JAVA_INT);
    private static final MethodHandle MKDIR = ints("mkdir", ADDRESS, JAVA_INT);
    private static final MethodHandle MMAP = handle("mmap", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG,
            JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle MREMAP = handle("mremap", FunctionDescriptor.of(JAVA_LONG, ADDRESS, JAVA_LONG,
            JAVA_LONG, JAVA_INT), Linker.Option.firstVariadicArg(4));
    private static final MethodHandle MUNMAP = ints("munmap", ADDRESS, JAVA_LONG);
    private static final MethodHandle OPEN = handle("open", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT,
            JAVA_INT), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle PIPE2 = ints("pipe2", ADDRESS, JAVA_INT);
    private static final MethodHandle DUP2 = ints("dup2", JAVA_INT, JAVA_INT);
    private static final MethodHandle POSIX_FALLOCATE = ints("posix_fallocate", JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle PREAD = longs("pread", JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle READ = longs("read", JAVA_INT, ADDRESS, JAVA_LONG);
    private static final MethodHandle RECV = longs("recv", JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
    private static final MethodHandle RECVMSG = longs("recvmsg", JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle SEND = longs("send", JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
    private static final MethodHandle SENDMSG = longs("sendmsg", JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle SETRLIMIT = ints("setrlimit", JAVA_INT, ADDRESS);
    private static final MethodHandle SETSID = ints("setsid");
    private static final MethodHandle SHUTDOWN = ints("shutdown", JAVA_INT, JAVA_INT);
    private static final MethodHandle SOCKET = ints("socket", JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle SOCKETPAIR = ints("socketpair", JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS);
    private static final MethodHandle STATX = ints("statx", JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS);
    private static final MethodHandle SYSCALL = handle("syscall", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG,
            JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG), Linker.Option.firstVariadicArg(1));
    private static final MethodHandle UNLINK = ints("unlink", ADDRESS);
    private static final MethodHandle WRITE = longs("write", JAVA_INT, ADDRESS, JAVA_LONG);

    private LibC() {
    }

    private static MethodHandle ints(String name, MemoryLayout... arguments) {
        return handle(name, FunctionDescriptor.of(JAVA_INT, arguments));
    }

    private static MethodHandle longs(String name, MemoryLayout... arguments) {
        return handle(name, FunctionDescriptor.of(JAVA_LONG, arguments));
    }

    private static MethodHandle handle(String name, FunctionDescriptor type, Linker.Option... options) {
        Linker.Option[] all = Stream.concat(Arrays.stream(options),
                Stream.of(Linker.Option.captureCallState("errno"))).toArray(Linker.Option[]::new);
        return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name), type, all);
    }

    /** A native call with the place for its error number. */
    @FunctionalInterface
    private interface Call {
        long with(MemorySegment state) throws Throwable;
    }

    /**
     * Makes a call and turns -1 into minus the error number.
     *
     * @throws IllegalStateException never in practice: a downcall handle throws only if it is called with wrong types
     */
    private static long call(Call call) {
        MemorySegment state = CALL_STATE.get();
        try {
            long result = call.with(state);
            return result == -1 ? -(int) ERRNO.get(state, 0L) : result;
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("native call failed outside the C library", e);
        }
    }

    private static int intCall(Call call) {
        return (int) call(call);
    }

    static int accept4(int fd, int flags) {
        return intCall(s -> (int) ACCEPT4.invokeExact(s, fd, MemorySegment.NULL, MemorySegment.NULL, flags));
    }

    static int bind(int fd, MemorySegment address, int bytes) {
        return intCall(s -> (int) BIND.invokeExact(s, fd, address, bytes));
    }

    static int chmod(MemorySegment path, int mode) {
        return intCall(s -> (int) CHMOD.invokeExact(s, path, mode));
    }

    static int clockGettime(int clock, MemorySegment timespec) {
        return intCall(s -> (int) CLOCK_GETTIME.invokeExact(s, clock, timespec));
    }

    static int close(int fd) {
        return intCall(s -> (int) CLOSE.invokeExact(s, fd));
    }

    static int connect(int fd, MemorySegment address, int bytes) {
        return intCall(s -> (int) CONNECT.invokeExact(s, fd, address, bytes));
    }

    static int epollCreate1(int flags) {
        return intCall(s -> (int) EPOLL_CREATE1.invokeExact(s, flags));
    }

    static int epollCtl(int epoll, int operation, int fd, MemorySegment event) {
        return intCall(s -> (int) EPOLL_CTL.invokeExact(s, epoll, operation, fd, event));
    }

    static int epollWait(int epoll, MemorySegment events, int capacity, int timeoutMs) {
        return intCall(s -> (int) EPOLL_WAIT.invokeExact(s, epoll, events, capacity, timeoutMs));
    }

    static int eventfd(int initial, int flags) {
        return intCall(s -> (int) EVENTFD.invokeExact(s, initial, flags));
    }

    static int fchmod(int fd, int mode) {
        return intCall(s -> (int) FCHMOD.invokeExact(s, fd, mode));
    }

    static int fchown(int fd, int uid, int gid) {
        return intCall(s -> (int) FCHOWN.invokeExact(s, fd, uid, gid));
    }

    static int flock(int fd, int operation) {
        return intCall(s -> (int) FLOCK.invokeExact(s, fd, operation));
    }

    static int ftruncate(int fd, long bytes) {
        return intCall(s -> (int) FTRUNCATE.invokeExact(s, fd, bytes));
    }

    static int getpid() {
        return intCall(s -> (int) GETPID.invokeExact(s));
    }

    static int getsockopt(int fd, int level, int option, MemorySegment value, MemorySegment bytes) {
        return intCall(s -> (int) GETSOCKOPT.invokeExact(s, fd, level, option, value, bytes));
    }

    static int setsid() {
        return intCall(s -> (int) SETSID.invokeExact(s));
    }

    static int getuid() {
        return intCall(s -> (int) GETUID.invokeExact(s));
    }

    static int listen(int fd, int backlog) {
        return intCall(s -> (int) LISTEN.invokeExact(s, fd, backlog));
    }

    static int mkdir(MemorySegment path, int mode) {
        return intCall(s -> (int) MKDIR.invokeExact(s, path, mode));
    }

    /** The address, or minus the error number (no user address is that high). */
    static long mmap(long address, long bytes, int protection, int flags, int fd) {
        return call(s -> (long) MMAP.invokeExact(s, address, bytes, protection, flags, fd, 0L));
    }

    static int madvise(MemorySegment address, long bytes, int advice) {
        return intCall(s -> (int) MADVISE.invokeExact(s, address, bytes, advice));
    }

    static int memfdCreate(MemorySegment name, int flags) {
        return intCall(s -> (int) MEMFD_CREATE.invokeExact(s, name, flags));
    }

    static int pipe2(MemorySegment pair, int flags) {
        return intCall(s -> (int) PIPE2.invokeExact(s, pair, flags));
    }

    static int dup2(int from, int to) {
        return intCall(s -> (int) DUP2.invokeExact(s, from, to));
    }

    static int fcntl(int fd, int command, int argument) {
        return intCall(s -> (int) FCNTL.invokeExact(s, fd, command, argument));
    }

    /** The address, or minus the error number. */
    static long mremap(MemorySegment address, long bytes, long newBytes, int flags) {
        return call(s -> (long) MREMAP.invokeExact(s, address, bytes, newBytes, flags));
    }

    static int munmap(MemorySegment address, long bytes) {
        return intCall(s -> (int) MUNMAP.invokeExact(s, address, bytes));
    }

    static int open(MemorySegment path, int flags, int mode) {
        return intCall(s -> (int) OPEN.invokeExact(s, path, flags, mode));
    }

    /** 0, or minus the error number; this function returns its error and does not set errno. */
    static int posixFallocate(int fd, long bytes) {
        return -intCall(s -> (int) POSIX_FALLOCATE.invokeExact(s, fd, 0L, bytes));
    }

    static int fallocate(int fd, int mode, long offset, long bytes) {
        return intCall(s -> (int) FALLOCATE.invokeExact(s, fd, mode, offset, bytes));
    }

    static int fflush(MemorySegment stream) {
        return intCall(s -> (int) FFLUSH.invokeExact(s, stream));
    }

    static long pread(int fd, MemorySegment into, long bytes, long offset) {
        return call(s -> (long) PREAD.invokeExact(s, fd, into, bytes, offset));
    }

    static long read(int fd, MemorySegment into, long bytes) {
        return call(s -> (long) READ.invokeExact(s, fd, into, bytes));
    }

    static long recv(int fd, MemorySegment into, long bytes, int flags) {
        return call(s -> (long) RECV.invokeExact(s, fd, into, bytes, flags));
    }

    static long recvmsg(int fd, MemorySegment message, int flags) {
        return call(s -> (long) RECVMSG.invokeExact(s, fd, message, flags));
    }

    static long send(int fd, MemorySegment from, long bytes, int flags) {
        return call(s -> (long) SEND.invokeExact(s, fd, from, bytes, flags));
    }

    static long sendmsg(int fd, MemorySegment message, int flags) {
        return call(s -> (long) SENDMSG.invokeExact(s, fd, message, flags));
    }

    static int setrlimit(int resource, MemorySegment both) {
        return intCall(s -> (int) SETRLIMIT.invokeExact(s, resource, both));
    }

    static int shutdown(int fd, int how) {
        return intCall(s -> (int) SHUTDOWN.invokeExact(s, fd, how));
    }

    static int socket(int domain, int type, int protocol) {
        return intCall(s -> (int) SOCKET.invokeExact(s, domain, type, protocol));
    }

    static int socketpair(int domain, int type, int protocol, MemorySegment both) {
        return intCall(s -> (int) SOCKETPAIR.invokeExact(s, domain, type, protocol, both));
    }

    static int statx(int directory, MemorySegment path, int flags, int mask, MemorySegment into) {
        return intCall(s -> (int) STATX.invokeExact(s, directory, path, flags, mask, into));
    }

    static long syscall(long number, long first, long second, long third, long fourth) {
        return call(s -> (long) SYSCALL.invokeExact(s, number, first, second, third, fourth));
    }

    static int unlink(MemorySegment path) {
        return intCall(s -> (int) UNLINK.invokeExact(s, path));
    }

    static long write(int fd, MemorySegment from, long bytes) {
        return call(s -> (long) WRITE.invokeExact(s, fd, from, bytes));
    }
}

package io.tessera.os.linux;

import static io.tessera.os.LinuxException.checked;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.tessera.os.Errno;
import io.tessera.os.LinuxException;
import io.tessera.os.PollPort;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** epoll and eventfd. The event buffer belongs to one waiting thread; {@link #wake} may be called by any. */
final class LinuxPoll implements PollPort {
    private static final int EPOLL_CLOEXEC = 02000000;
    private static final int EPOLL_CTL_ADD = 1;
    private static final int EPOLL_CTL_DEL = 2;
    private static final int EPOLL_CTL_MOD = 3;
    private static final int EFD_NONBLOCK_CLOEXEC = 04000 | 02000000;
    private static final int BATCH = 64;
    /** Whether epoll_event is packed: the kernel does so on x86-64 alone. */
    private static final boolean PACKED = System.getProperty("os.arch").equals("amd64");
    private static final int EVENT_BYTES = PACKED ? 12 : 16;
    private static final int DATA_OFFSET = PACKED ? 4 : 8;

    /** Event buffer; one per thread, because threads wait at sets of their own at the same time. */
    private static final ThreadLocal<MemorySegment> EVENTS = ThreadLocal.withInitial(() -> Arena.ofAuto().allocate((long) EVENT_BYTES * BATCH, 8));

    @Override
    public int open() throws LinuxException {
        return checked(LibC.epollCreate1(EPOLL_CLOEXEC), "epoll_create1", "");
    }

    @Override
    public void add(int poll, int descriptor, int interest, long token) throws LinuxException {
        control(poll, EPOLL_CTL_ADD, descriptor, interest, token);
    }

    @Override
    public void change(int poll, int descriptor, int interest, long token) throws LinuxException {
        control(poll, EPOLL_CTL_MOD, descriptor, interest, token);
    }

    @Override
    public void remove(int poll, int descriptor) throws LinuxException {
        control(poll, EPOLL_CTL_DEL, descriptor, 0, 0);
    }

    private static void control(int poll, int operation, int descriptor, int interest, long token)
            throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment event = arena.allocate(EVENT_BYTES, 8);
            event.set(JAVA_INT, 0, interest);
            event.set(JAVA_LONG_UNALIGNED, DATA_OFFSET, token);
            checked(LibC.epollCtl(poll, operation, descriptor, event), "epoll_ctl", descriptor);
        }
    }

    @Override
    public int await(int poll, long timeoutNs, Ready ready) throws LinuxException {
        int timeoutMs = (int) Math.min(Integer.MAX_VALUE, (Math.max(0, timeoutNs) + 999_999L) / 1_000_000L);
        MemorySegment events = EVENTS.get();
        int count = LibC.epollWait(poll, events, BATCH, timeoutMs);
        if (count == -Errno.EINTR) {
            return 0;
        }
        checked(count, "epoll_wait", poll);
        for (int i = 0; i < count; i++) {
            long at = (long) i * EVENT_BYTES;
            int told = events.get(JAVA_INT, at);
            int writable = told & WRITABLE;
            int rest = (told & ~WRITABLE) != 0 ? READABLE : 0;
            ready.ready(events.get(JAVA_LONG_UNALIGNED, at + DATA_OFFSET), writable | rest);
        }
        return count;
    }

    @Override
    public int openWakeup() throws LinuxException {
        return checked(LibC.eventfd(0, EFD_NONBLOCK_CLOEXEC), "eventfd", "");
    }

    @Override
    public void wake(int wakeup) throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment one = arena.allocate(8, 8);
            one.set(JAVA_LONG, 0, 1);
            long result = LibC.write(wakeup, one, 8);
            if (result != -Errno.EAGAIN) { // a full counter is readable already
                checked((int) result, "write", "eventfd " + wakeup);
            }
        }
    }

    @Override
    public void clearWakeup(int wakeup) throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            long result = LibC.read(wakeup, arena.allocate(8, 8), 8);
            if (result != -Errno.EAGAIN) {
                checked((int) result, "read", "eventfd " + wakeup);
            }
        }
    }

    @Override
    public void close(int descriptor) throws LinuxException {
        checked(LibC.close(descriptor), "close", descriptor);
    }
}

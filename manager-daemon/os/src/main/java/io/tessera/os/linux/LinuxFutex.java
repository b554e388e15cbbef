package io.tessera.os.linux;

import static io.tessera.os.LinuxException.checked;

import io.tessera.os.Errno;
import io.tessera.os.FutexPort;
import io.tessera.os.LinuxException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The futex system call, not private to the process (linux/futex.h). */
final class LinuxFutex implements FutexPort {
    private static final long FUTEX = System.getProperty("os.arch").equals("aarch64") ? 98 : 202;
    private static final int FUTEX_WAIT = 0;
    private static final int FUTEX_WAKE = 1;
    /** Memory of a timeout; one per thread, because a sleeping thread's timeout must not change. */
    private static final ThreadLocal<MemorySegment> TIME = ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(16, 8));

    @Override
    public void await(MemorySegment word, int expected, long timeoutNs) throws LinuxException {
        MemorySegment time = TIME.get();
        time.set(ValueLayout.JAVA_LONG, 0, timeoutNs / 1_000_000_000L);
        time.set(ValueLayout.JAVA_LONG, 8, timeoutNs % 1_000_000_000L);
        int result = (int) LibC.syscall(FUTEX, word.address(), FUTEX_WAIT, expected, time.address());
        if (result == -Errno.EAGAIN || result == -Errno.EINTR || result == -Errno.ETIMEDOUT) {
            return;
        }
        checked(result, "futex", "wait");
    }

    @Override
    public void wake(MemorySegment word) throws LinuxException {
        checked((int) LibC.syscall(FUTEX, word.address(), FUTEX_WAKE, Integer.MAX_VALUE, 0), "futex", "wake");
    }
}

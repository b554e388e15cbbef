package io.tessera.os.linux;

import io.tessera.os.ForeignFilePort;
import io.tessera.os.FutexPort;
import io.tessera.os.LimitPort;
import io.tessera.os.LinuxException;
import io.tessera.os.LinuxPort;
import io.tessera.os.PrintedTextPort;
import io.tessera.os.SharedMemoryPort;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The Linux of this host, reached through the foreign function interface. Stateless. */
public final class Linux {
    private static final int CLOCK_MONOTONIC = 1;

    private Linux() {
    }

    /**
     * Returns the real ports.
     *
     * @throws UnsatisfiedLinkError if the C library lacks one of the functions
     */
    public static LinuxPort open() {
        return new LinuxPort(new LinuxSockets(), new LinuxPoll(), new LinuxFiles(), new LinuxProcesses());
    }

    /** Returns shared memory of this host. */
    public static SharedMemoryPort sharedMemory() {
        return new LinuxSharedMemory();
    }

    /** Returns files of this host that receive what this process prints. */
    public static PrintedTextPort printedText() {
        return new LinuxPrintedText();
    }

    /** Returns the port for files that other processes have opened. */
    public static ForeignFilePort foreignFiles() {
        return new LinuxForeignFiles();
    }

    /** Returns the limits of this process. */
    public static LimitPort limits() {
        return new LinuxLimits();
    }

    /** Returns the port that waits on words in memory. */
    public static FutexPort futex() {
        return new LinuxFutex();
    }

    /** Returns CLOCK_MONOTONIC in nanoseconds, as C programs read it. */
    public static long monotonicNs() throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment timespec = arena.allocate(16, 8);
            LinuxException.checked(LibC.clockGettime(CLOCK_MONOTONIC, timespec), "clock_gettime", "CLOCK_MONOTONIC");
            return timespec.get(ValueLayout.JAVA_LONG, 0) * 1_000_000_000L + timespec.get(ValueLayout.JAVA_LONG, 8);
        }
    }
}

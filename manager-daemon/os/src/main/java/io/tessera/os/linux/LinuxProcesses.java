package io.tessera.os.linux;

import static io.tessera.os.LinuxException.checked;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.tessera.os.Activity;
import io.tessera.os.Errno;
import io.tessera.os.LinuxException;
import io.tessera.os.PeerCredentials;
import io.tessera.os.ProcessPort;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;

/** Processes of Linux. System call numbers above 423 are the same on every architecture. */
final class LinuxProcesses implements ProcessPort {
    private static final int SOL_SOCKET = 1;
    private static final int SO_PEERPIDFD = 77;
    private static final long PIDFD_SEND_SIGNAL = 424;
    private static final long PIDFD_OPEN = 434;
    /** Field 22 of the stat file, counted from the state, which is field 3. */
    private static final int START_TIME = 22 - 3;
    private static final String ZOMBIE = "Z";
    private static final int USER_TIME = 14 - 3;
    private static final int SYSTEM_TIME = 15 - 3;
    /** States of a thread that runs or may run; waits for a disk; is held by a debugger. */
    private static final Set<String> BUSY_STATES = Set.of("R", "D", "t");

    @Override
    public int uid() {
        return LibC.getuid();
    }

    @Override
    public int pid() {
        return LibC.getpid();
    }

    @Override
    public int pidfdOfPeer(int socket, PeerCredentials peer) throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(4, 4);
            MemorySegment bytes = arena.allocateFrom(JAVA_INT, 4);
            int result = LibC.getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, value, bytes);
            if (result == 0) {
                return value.get(JAVA_INT, 0);
            }
            if (result != -Errno.ENOPROTOOPT) {
                return absentOrThrow(result, "getsockopt SO_PEERPIDFD", peer);
            }
        }
        if (peer.pid() <= 0) {
            return NO_PIDFD;
        }
        int result = (int) LibC.syscall(PIDFD_OPEN, peer.pid(), 0, 0, 0);
        return result >= 0 ? result : absentOrThrow(result, "pidfd_open", peer);
    }

    /** Returns the value for a missing pidfd, or throws. A process that is gone or not visible, and a kernel without pidfds, are expected cases. */
    private static int absentOrThrow(int result, String call, PeerCredentials peer) throws LinuxException {
        int errno = -result;
        if (errno == Errno.ESRCH || errno == Errno.ENOSYS || errno == 22 || errno == 61) { // EINVAL, ENODATA
            return NO_PIDFD;
        }
        throw new LinuxException(call, "pid " + peer.pid(), errno);
    }

    @Override
    public boolean signal(int pidfd, int signal) throws LinuxException {
        int result = (int) LibC.syscall(PIDFD_SEND_SIGNAL, pidfd, signal, 0, 0);
        if (result == -Errno.ESRCH) {
            return false;
        }
        checked(result, "pidfd_send_signal", "signal " + signal);
        return true;
    }

    @Override
    public long startTicks(int pid) {
        String[] fields = stat(Path.of("/proc", Integer.toString(pid), "stat"));
        return fields == null || fields[0].equals(ZOMBIE) ? 0 : Long.parseLong(fields[START_TIME]);
    }

    /** Returns the fields of a stat file from the state on; null if there is none. The command before it may contain blanks and parentheses. */
    private static String[] stat(Path file) {
        try {
            String stat = Files.readString(file);
            return stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        } catch (IOException | RuntimeException e) {
            return null; // gone meanwhile, or hidden (hidepid)
        }
    }

    @Override
    public Activity activity(int pid) {
        Path process = Path.of("/proc", Integer.toString(pid));
        String[] whole = stat(process.resolve("stat"));
        if (whole == null) {
            return null;
        }
        boolean runnable = false;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(process.resolve("task"))) {
            for (Path thread : threads) {
                String[] fields = stat(thread.resolve("stat"));
                runnable |= fields != null && BUSY_STATES.contains(fields[0]);
            }
        } catch (IOException | DirectoryIteratorException e) {
            return null;
        }
        return new Activity(whole[0].equals("T"), runnable,
                Long.parseLong(whole[USER_TIME]) + Long.parseLong(whole[SYSTEM_TIME]));
    }

    @Override
    public void newSession() {
        LibC.setsid(); // fails if this process leads a group already, which is as good
    }

    @Override
    public boolean exists(int pid) {
        return pid > 0 && Files.exists(Path.of("/proc", Integer.toString(pid)));
    }

    @Override
    public void close(int descriptor) throws LinuxException {
        checked(LibC.close(descriptor), "close", descriptor);
    }
}

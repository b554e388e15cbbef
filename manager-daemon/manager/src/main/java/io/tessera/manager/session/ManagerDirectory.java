package io.tessera.manager.session;

import io.tessera.clock.NanoClock;
import io.tessera.os.Errno;
import io.tessera.os.FilePort;
import io.tessera.os.FileStatus;
import io.tessera.os.LinuxException;
import io.tessera.os.LinuxPort;
import io.tessera.os.PidFile;
import io.tessera.protocol.RuntimeDirectory;
import io.tessera.protocol.segment.AckWord;
import io.tessera.protocol.segment.DeviceBlock;
import io.tessera.protocol.segment.SegmentHeader;
import io.tessera.protocol.segment.SegmentLayout;
import io.tessera.protocol.segment.TurnWord;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The runtime directory and the directory of segments, claimed by one manager (SPEC.md, section 1): created or checked, locked, and cleared of what a
 * dead manager left. Closing removes this manager's own files again. One owner thread.
 */
public final class ManagerDirectory implements AutoCloseable {
    /** A segment whose manager's heartbeat is older than this has no manager (SPEC.md, section 4). */
    static final long STALE_NS = 5_000_000_000L;
    /**
     * Time for which gates keep their state after the manager's death, counted from its last heartbeat: heartbeats are at most half a second apart.
     */
    static final long HELD_NS = 5_500_000_000L;
    private static final Pattern SEGMENT_NAME = Pattern.compile("client-\\d+\\.segment");
    private static final Logger LOG = LoggerFactory.getLogger(ManagerDirectory.class);

    private final LinuxPort os;
    private final RuntimeDirectory directory;
    /** Descriptor of the runtime directory itself, locked: removing a file does not break this lock. */
    private final int locked;
    private final PidFile pidFile;
    private final List<FormerClient> formerClients = new ArrayList<>();

    private ManagerDirectory(LinuxPort os, RuntimeDirectory directory, int locked, PidFile pidFile) {
        this.os = os;
        this.directory = directory;
        this.locked = locked;
        this.pidFile = pidFile;
    }

    /**
     * Claims the directories for this process.
     *
     * @param monotonic the clock of heartbeats
     * @throws ManagerRunningException   if another manager has them
     * @throws UnsafeDirectoryException  if one of them is a link, belongs to another user, or is writable by others
     * @throws IOException               if they cannot be created
     */
    public static ManagerDirectory claim(LinuxPort os, RuntimeDirectory directory, NanoClock monotonic)
            throws IOException {
        os.files().close(prepare(os, directory.shmDirectory()));
        int locked = prepare(os, directory.path());
        PidFile pidFile = null;
        boolean done = false;
        try {
            pidFile = lock(os, directory, locked);
            ManagerDirectory claimed = new ManagerDirectory(os, directory, locked, pidFile);
            claimed.removeSockets();
            claimed.removeStaleSegments(monotonic.nanoTime());
            done = true;
            return claimed;
        } finally {
            if (!done) {
                os.files().close(locked);
                if (pidFile != null) {
                    pidFile.close();
                }
            }
        }
    }

    private static PidFile lock(LinuxPort os, RuntimeDirectory directory, int locked) throws IOException {
        try {
            PidFile pidFile = PidFile.lock(os.files(), directory.pidFile(), os.processes().pid());
            if (!os.files().lock(locked)) {
                pidFile.close();
                throw new ManagerRunningException(directory.path(), "unknown: its pid file was removed");
            }
            return pidFile;
        } catch (PidFile.HeldException e) {
            throw new ManagerRunningException(directory.path(), e.pid());
        }
    }

    /** Creates a directory that only this user can write, or checks that an existing one is such; opens it. */
    private static int prepare(LinuxPort os, Path path) throws IOException {
        FilePort files = os.files();
        int uid = os.processes().uid();
        int permissions = uid == 0 ? 0711 : 0700;
        boolean made = files.makeDirectory(path, permissions);
        int descriptor;
        try {
            descriptor = files.open(path, FilePort.Open.DIRECTORY, 0);
        } catch (LinuxException e) {
            if (e.errno() == Errno.ENOTDIR || e.errno() == Errno.ELOOP) {
                throw new UnsafeDirectoryException(path, "is a link or no directory");
            }
            throw e;
        }
        boolean done = false;
        try {
            FileStatus status = files.status(descriptor);
            if (status.uid() != uid) {
                throw new UnsafeDirectoryException(path, "belongs to user " + Integer.toUnsignedString(status.uid())
                        + ", this manager is user " + Integer.toUnsignedString(uid));
            }
            if (made) {
                files.permissions(descriptor, permissions); // independent of the umask
            } else if (status.othersCanWrite()) {
                throw new UnsafeDirectoryException(path,
                        "can be written by others (mode " + Integer.toOctalString(status.permissions()) + ")");
            }
            done = true;
            return descriptor;
        } finally {
            if (!done) {
                files.close(descriptor);
            }
        }
    }

    private void removeSockets() throws LinuxException {
        os.files().remove(directory.registrationSocket());
        os.files().remove(directory.controlSocket());
    }

    /** Removes segments without a manager. Two managers of one user may share the directory of segments, so only files of dead ones are removed. */
    private void removeStaleSegments(long nowNs) throws IOException {
        int removed = 0;
        for (Path path : os.files().list(directory.shmDirectory())) {
            if (SEGMENT_NAME.matcher(path.getFileName().toString()).matches() && isStale(path, nowNs)) {
                removed += os.files().remove(path) ? 1 : 0;
            }
        }
        if (removed > 0) {
            LOG.info("removed {} segments of a former manager from {}", removed, directory.shmDirectory());
        }
    }

    private boolean isStale(Path path, long nowNs) throws LinuxException {
        int descriptor;
        try {
            descriptor = os.files().open(path, FilePort.Open.READ, 0);
        } catch (LinuxException e) {
            if (e.errno() == Errno.ENOENT) {
                return false; // its manager has just removed it
            }
            throw e;
        }
        try (Arena arena = Arena.ofConfined()) {
            FileStatus status = os.files().status(descriptor);
            if (!status.isRegularFile() || status.bytes() != SegmentLayout.SEGMENT_BYTES) {
                return true;
            }
            MemorySegment memory = os.files().map(descriptor, SegmentLayout.SEGMENT_BYTES, false, arena);
            SegmentHeader header = new SegmentHeader(memory);
            long ageNs = nowNs - header.managerHeartbeatNs();
            boolean beats = ageNs >= 0 && ageNs < STALE_NS;
            boolean stale = !beats || header.managerPid() == os.processes().pid() || !os.processes().exists(header.managerPid());
            if (stale) {
                note(header, nowNs);
            }
            return stale;
        } finally {
            os.files().close(descriptor);
        }
    }

    /** Records the client of a segment of a manager that was killed, if it may still use a device. */
    private void note(SegmentHeader header, long nowNs) {
        long untilNs = Math.min(header.managerHeartbeatNs(), nowNs) + HELD_NS;
        boolean held = header.version() == SegmentLayout.VERSION && header.managerHeartbeatNs() != 0 && untilNs > nowNs;
        if (held && IntStream.range(0, SegmentLayout.MAX_DEVICES).anyMatch(slot -> isAtWork(header.device(slot)))) {
            formerClients.add(new FormerClient(header.clientPid(), untilNs));
        }
    }

    private static boolean isAtWork(DeviceBlock device) {
        int ack = AckWord.state(device.ack());
        boolean answered = AckWord.epoch(device.ack()) == TurnWord.epoch(device.turn());
        boolean stopped = ack == AckWord.CLOSED && TurnWord.state(device.turn()) == TurnWord.CLOSED || ack == AckWord.RELEASED;
        return device.registered() && (device.gateOpen() || !answered || !stopped);
    }

    /** Returns the clients of the former manager, if it was killed, that had not stopped using a device. */
    public List<FormerClient> formerClients() {
        return List.copyOf(formerClients);
    }

    /** Returns the paths. */
    public RuntimeDirectory paths() {
        return directory;
    }

    /**
     * Returns whether the runtime directory is still where it was claimed; otherwise clients cannot find this manager, and another one may have
     * claimed that path.
     */
    public boolean isInPlace() {
        try {
            int named = os.files().open(directory.path(), FilePort.Open.DIRECTORY, 0);
            try {
                return os.files().status(named).inode() == os.files().status(locked).inode();
            } finally {
                os.files().close(named);
            }
        } catch (LinuxException e) {
            return e.errno() != Errno.ENOENT && e.errno() != Errno.ENOTDIR && e.errno() != Errno.ELOOP;
        }
    }

    /** Removes sockets and pid file and releases the locks. Segments are removed by {@link Sessions#close}. */
    @Override
    public void close() throws LinuxException {
        try {
            if (isInPlace()) {
                removeSockets();
            }
        } finally {
            os.files().close(locked); // before the pid file: the process that gets that one finds the directory free
            pidFile.close();
        }
    }
}

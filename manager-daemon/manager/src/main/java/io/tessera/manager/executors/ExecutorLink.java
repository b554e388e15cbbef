package io.tessera.manager.executors;

import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import io.tessera.os.LineSocket;
import io.tessera.os.LinuxException;
import io.tessera.os.LinuxPort;
import io.tessera.os.PeerCredentials;
import io.tessera.os.PollPort;
import io.tessera.os.Poller;
import io.tessera.os.ProcessPort;
import io.tessera.os.SocketKind;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection to one executor, read and written by a thread of its own, so that an executor that does not read delays no other. The socket shows
 * the process at the other end (SO_PEERCRED); no number in a file is trusted. Telling and ending are thread-safe.
 */
final class ExecutorLink implements ExecutorLauncher.Running {
    /** Interval between two attempts to reach an executor that is starting. */
    private static final long RETRY_MS = 20;
    /** Interval between two checks for work that did not wake this thread. */
    private static final long LOOK_NS = 1_000_000_000L;
    /** Interval between two attempts to send what the executor did not take, or to reach it again. */
    private static final long SHORT_NS = 20_000_000L;
    /** Longest time from the order to part until the connection is closed. */
    private static final long PATIENCE_MS = 2_000;
    private static final int SCRATCH_BYTES = 65_536;
    /** Exit code of a process that is not a child of this one. */
    private static final int UNKNOWN_EXIT = -1;
    private static final Logger LOG = LoggerFactory.getLogger(ExecutorLink.class);

    private final LinuxPort os;
    private final Path socketPath;
    private final Process child;
    private final ExecutorLauncher.Listener listener;
    private final MemorySegment scratch = Arena.ofAuto().allocate(SCRATCH_BYTES, 8);
    private final Thread thread = Thread.ofPlatform().name("executor").daemon().unstarted(this::run);
    private volatile Poller poller;
    private volatile long pid;
    private int socket = -1;
    private volatile int pidfd = ProcessPort.NO_PIDFD;
    private volatile LineSocket lines;
    private volatile boolean parting;
    private boolean over;
    private boolean gone;

    private ExecutorLink(LinuxPort os, Path socketPath, Process child, ExecutorLauncher.Listener listener) {
        this.os = os;
        this.socketPath = socketPath;
        this.child = child;
        this.listener = listener;
    }

    /**
     * Reaches a process that was started just now.
     *
     * @param socketPath path at which it will listen to managers
     */
    static ExecutorLink to(LinuxPort os, Path socketPath, Process child, ExecutorLauncher.Listener listener) {
        ExecutorLink link = new ExecutorLink(os, socketPath, child, listener);
        link.pid = child.pid();
        link.thread.start();
        return link;
    }

    /** Reaches an executor that runs already; null if none listens there. */
    static ExecutorLink adopt(LinuxPort os, Path socketPath, ExecutorLauncher.Listener listener) {
        ExecutorLink link = new ExecutorLink(os, socketPath, null, listener);
        if (!link.connect()) {
            return null;
        }
        link.thread.start();
        return link;
    }

    private boolean connect() {
        int connected = reach();
        if (connected < 0) {
            return false;
        }
        boolean kept = false;
        try {
            PeerCredentials peer = os.sockets().peer(connected);
            pidfd = os.processes().pidfdOfPeer(connected, peer);
            pid = peer.pid();
            socket = connected;
            lines = new LineSocket(os.sockets(), connected);
            kept = true;
        } catch (LinuxException e) {
            LOG.warn("an executor at {} cannot be used: {}", socketPath, e.getMessage());
        } finally {
            if (!kept) {
                close(connected);
            }
        }
        return kept;
    }

    /** Connects to the expected process or, if it is not known yet, to the process that listens. Returns the socket, or -1. */
    private int reach() {
        int connected = -1;
        try {
            connected = os.sockets().connect(socketPath, SocketKind.STREAM);
            if (pid == 0 || os.sockets().peer(connected).pid() == pid) {
                return connected;
            }
        } catch (LinuxException e) {
            LOG.debug("no executor yet: {}", e.getMessage());
        }
        if (connected >= 0) {
            close(connected);
        }
        return -1;
    }

    private void close(int descriptor) {
        try {
            os.sockets().close(descriptor);
        } catch (LinuxException e) {
            LOG.debug("while an executor's socket was closed: {}", e.getMessage());
        }
    }

    private void run() {
        try {
            while (lines == null && child.isAlive() && !parting) {
                if (!connect()) {
                    Thread.sleep(RETRY_MS);
                }
            }
            if (lines != null) {
                serve();
            }
            if (!parting) {
                listener.ended(child == null ? UNKNOWN_EXIT : child.waitFor());
            }
        } catch (LinuxException e) {
            LOG.error("an executor cannot be heard any more: {}", e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Serves the connection until the process is gone, or the manager parts from it. */
    private void serve() throws LinuxException {
        try (Poller own = new Poller(os.poll())) {
            long token = own.add(socket, PollPort.READABLE, _ -> receive());
            if (pidfd != ProcessPort.NO_PIDFD) {
                own.add(pidfd, PollPort.READABLE, _ -> gone = true);
            }
            poller = own;
            while (!gone) {
                boolean all = over || send();
                if (parting && all) {
                    break;
                }
                own.dispatch(all && !over ? LOOK_NS : SHORT_NS);
                gone |= over && !os.processes().exists((int) pid);
                token = over && !gone ? again(own, token) : token;
            }
            poller = null;
            if (token != 0) {
                receive(); // its last lines
                os.sockets().closeAfterReading(socket);
            }
        }
        closePidfd();
    }

    /**
     * Connects again after the connection has ended and the process has not. It listens to one connection at a time, and another process may have
     * connected to it, or it is ending. Returns the token of a new connection; 0: there is none yet.
     */
    private long again(Poller own, long token) throws LinuxException {
        if (token != 0) {
            own.remove(socket, token);
            os.sockets().close(socket);
        }
        int connected = reach();
        if (connected < 0) {
            return 0;
        }
        socket = connected;
        lines = new LineSocket(os.sockets(), connected);
        over = false;
        return own.add(connected, PollPort.READABLE, _ -> receive());
    }

    private synchronized void closePidfd() throws LinuxException {
        if (pidfd != ProcessPort.NO_PIDFD) {
            os.processes().close(pidfd);
            pidfd = ProcessPort.NO_PIDFD;
        }
    }

    private void receive() {
        try {
            over = over || !lines.receive(scratch, this::hear);
        } catch (LinuxException e) {
            over = true; // the notice of its end is still to come
        }
    }

    private boolean send() {
        try {
            return lines.send(scratch);
        } catch (LinuxException e) {
            over = true;
            return true;
        }
    }

    private void hear(String line) {
        try {
            listener.said(JsonParser.parseString(line).getAsJsonObject());
        } catch (JsonParseException | IllegalStateException e) {
            LOG.warn("an executor says what cannot be read: {}", line);
        }
    }

    @Override
    public long pid() {
        return pid;
    }

    @Override
    public void tell(JsonObject line) {
        LineSocket present = lines;
        if (present == null || !present.queue(line.toString())) {
            LOG.warn("executor {} does not read its messages", pid);
        }
        wake();
    }

    private void wake() {
        Poller present = poller;
        try {
            if (present != null) {
                present.wake();
            }
        } catch (LinuxException e) {
            LOG.debug("an executor gets its messages a little later: {}", e.getMessage());
        }
    }

    @Override
    public void terminate() {
        signal(ProcessPort.SIGTERM);
    }

    @Override
    public void kill() {
        signal(ProcessPort.SIGKILL);
    }

    private synchronized void signal(int signal) {
        try {
            if (pidfd != ProcessPort.NO_PIDFD) {
                os.processes().signal(pidfd, signal);
            } else if (child != null) {
                child.destroyForcibly();
            }
        } catch (LinuxException e) {
            LOG.warn("executor {} cannot be ended: {}", pid, e.getMessage());
        }
    }

    @Override
    public void part() {
        parting = true;
        wake();
        try {
            if (!thread.join(Duration.ofMillis(PATIENCE_MS))) {
                LOG.warn("executor {} did not read its last orders", pid);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

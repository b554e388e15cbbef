package io.tessera.executor.control;

import io.tessera.clock.NanoClock;
import io.tessera.executor.wait.BoundedWait;
import io.tessera.executor.wait.WaitLimit;
import io.tessera.os.LineSocket;
import io.tessera.os.LinuxException;
import io.tessera.os.LinuxPort;
import io.tessera.os.PeerCredentials;
import io.tessera.os.PollPort;
import io.tessera.os.Poller;
import io.tessera.os.SocketKind;
import io.tessera.os.SocketPort;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The socket on which managers connect to this executor. Only the manager that connected last is served. A thread of its own reads,
 * writes, and sends a sign of life four times a second, so that these stop only if the whole process is blocked.
 */
public final class ManagerLink implements AutoCloseable {
    private static final long BEAT_NS = 250_000_000L;
    /** Time for which the last message may remain unread. */
    private static final long PATIENCE_MS = 2_000;
    private static final int PERMISSIONS = 0600;
    private static final int BACKLOG = 16;
    private static final int SCRATCH_BYTES = 65_536;
    private static final String BEAT = "{\"beat\":{}}";
    private static final Logger LOG = LoggerFactory.getLogger(ManagerLink.class);

    private final LinuxPort os;
    private final Path path;
    private final Consumer<Consumer<List<String>>> meeting;
    private final Consumer<String> heard;
    private final Poller poller;
    private final int listening;
    private final MemorySegment scratch = Arena.ofAuto().allocate(SCRATCH_BYTES, 8);
    private final Thread thread = Thread.ofPlatform().name("manager").daemon().unstarted(this::run);
    private volatile Manager manager;
    private volatile boolean closing;

    /** A connection of a manager. */
    private static final class Manager {
        private final int socket;
        private final LineSocket lines;
        private long token;

        Manager(SocketPort sockets, int socket) {
            this.socket = socket;
            this.lines = new LineSocket(sockets, socket);
        }
    }

    /**
     * Begins to listen.
     *
     * @param path    a socket that was left behind there is removed
     * @param meeting receives the consumer to which it sends the first messages for a manager; later messages follow them
     * @param heard   receives the managers' lines, on a thread of the executor
     */
    public ManagerLink(LinuxPort os, Path path, Consumer<Consumer<List<String>>> meeting,
            Consumer<String> heard) throws LinuxException {
        this.os = os;
        this.path = path;
        this.meeting = meeting;
        this.heard = heard;
        this.poller = new Poller(os.poll());
        os.files().remove(path);
        this.listening = os.sockets().listen(path, SocketKind.STREAM, PERMISSIONS, BACKLOG);
        poller.add(listening, PollPort.READABLE, _ -> accept());
        thread.start();
    }

    /** Returns whether a manager is there. Any thread. */
    public boolean hasManager() {
        return manager != null;
    }

    /** Tells the manager a line; without one it is lost. Any thread. */
    public void tell(String line) {
        Manager present = manager;
        if (present != null && !present.lines.queue(line)) {
            LOG.debug("the manager does not read");
        }
        wake();
    }

    private void wake() {
        try {
            poller.wake();
        } catch (LinuxException e) {
            LOG.debug("messages to the manager wait for the next sign of life: {}", e.getMessage());
        }
    }

    private void run() {
        try {
            while (!closing || hasManager()) {
                poller.dispatch(BEAT_NS);
                if (hasManager()) {
                    manager.lines.queue(BEAT);
                    send();
                }
                if (closing) {
                    leave();
                }
            }
        } catch (LinuxException | RuntimeException e) {
            LOG.error("managers cannot be heard any more", e);
        }
    }

    private void send() {
        Manager present = manager;
        try {
            if (present != null) {
                present.lines.send(scratch);
            }
        } catch (LinuxException e) {
            leave(); // the manager has left
        }
    }

    private void accept() {
        try {
            int socket;
            while ((socket = os.sockets().accept(listening)) != SocketPort.WOULD_BLOCK) {
                PeerCredentials peer = os.sockets().peer(socket);
                if (peer.uid() != 0 && peer.uid() != os.processes().uid()) {
                    os.sockets().close(socket);
                    continue;
                }
                leave();
                Manager next = new Manager(os.sockets(), socket);
                next.token = poller.add(socket, PollPort.READABLE, _ -> receive(next));
                meeting.accept(lines -> {
                    lines.forEach(next.lines::queue);
                    manager = next;
                });
                LOG.info("a manager is there: pid {}", peer.pid());
                send();
            }
        } catch (LinuxException e) {
            LOG.error("a manager cannot be heard: {}", e.getMessage());
        }
    }

    private void receive(Manager from) {
        boolean there = false;
        try {
            there = from.lines.receive(scratch, heard);
        } catch (LinuxException e) {
            LOG.debug("the manager's connection broke: {}", e.getMessage());
        }
        if (!there && manager == from) {
            leave();
            LOG.info("the manager is gone; this executor goes on");
        }
    }

    private void leave() {
        Manager present = manager;
        manager = null;
        if (present == null) {
            return;
        }
        try {
            poller.remove(present.socket, present.token);
            os.sockets().closeAfterReading(present.socket);
        } catch (LinuxException e) {
            LOG.debug("while a manager's connection was closed: {}", e.getMessage());
        }
    }

    /** Waits at most 2 s for the manager that started this process, so that the manager learns why it ends. */
    public void awaitManager(NanoClock clock) {
        BoundedWait.begin(clock, WaitLimit.FIRST_MANAGER).until(this::hasManager);
    }

    /** Sends remaining messages, for at most 2 s, and removes the socket. */
    @Override
    public void close() {
        closing = true;
        wake();
        try {
            thread.join(PATIENCE_MS);
            os.files().remove(path);
        } catch (LinuxException e) {
            LOG.debug("the socket of managers stays: {}", e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

package io.tessera.manager.memory;

import io.tessera.os.Activity;
import io.tessera.os.Errno;
import io.tessera.os.LinuxException;
import io.tessera.os.LinuxPort;
import io.tessera.os.PeerCredentials;
import io.tessera.os.PollPort;
import io.tessera.os.ProcessPort;
import io.tessera.os.SocketKind;
import io.tessera.os.SocketPort;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** Linux in memory, as far as the manager uses it. Waits end at once; nothing happens by itself. */
public final class MemoryLinux implements SocketPort, PollPort, ProcessPort {
    private final Descriptors descriptors = new Descriptors();
    private final Map<Path, Listener> listeners = new LinkedHashMap<>();
    private final int uid;
    /** Files of this system. */
    public final MemoryFiles files;
    /** Processes other than the manager's. */
    public final Set<Integer> processes = new HashSet<>();
    /** Error number of the next accepts; 0: they succeed. */
    public int acceptErrno;
    /** Activity of every process. */
    public Activity activity = new Activity(false, true, 0);
    /** Called before every packet to a peer, to inspect memory at that moment. */
    public Runnable beforeSend = () -> {};

    private record Listener(SocketKind kind, Deque<InMemoryClient> waiting) {
    }

    private record Connection(InMemoryClient peer, SocketKind kind) {
    }

    private record Pidfd(InMemoryClient peer) {
    }

    private static final class Wakeup {
        private boolean woken;
    }

    private record Watch(int interest, long token) {
    }

    private record PollSet(Map<Integer, Watch> watched) {
    }

    /** Creates the system of a manager of this user. */
    public MemoryLinux(int uid) {
        this.uid = uid;
        this.files = new MemoryFiles(descriptors, uid);
    }

    /** Returns the ports. */
    public LinuxPort ports() {
        return new LinuxPort(this, this, files, this);
    }

    /** Connects a process of a user. */
    public InMemoryClient connect(Path path, int pid, int peerUid) {
        InMemoryClient peer = new InMemoryClient(new PeerCredentials(pid, peerUid, peerUid));
        listeners.get(path).waiting.add(peer);
        return peer;
    }

    /** Returns the number of open descriptors of the manager. */
    public int openDescriptors() {
        return descriptors.count();
    }

    // ---- sockets

    @Override
    public int listen(Path path, SocketKind kind, int permissions, int backlog) throws LinuxException {
        files.socket(path);
        Listener listener = new Listener(kind, new ArrayDeque<>());
        listeners.put(path, listener);
        return descriptors.add(listener);
    }

    @Override
    public int connect(Path path, SocketKind kind) {
        throw new UnsupportedOperationException("peers connect by connect(path, pid, uid)");
    }

    @Override
    public int accept(int listener) throws LinuxException {
        if (acceptErrno != 0) {
            throw new LinuxException("accept4", "", acceptErrno);
        }
        Listener from = (Listener) descriptors.get(listener);
        InMemoryClient peer = from.waiting.poll();
        return peer == null ? WOULD_BLOCK : descriptors.add(new Connection(peer, from.kind));
    }

    @Override
    public int[] pair() {
        InMemoryClient both = new InMemoryClient(new PeerCredentials(0, uid, uid));
        int first = descriptors.add(new Connection(both, SocketKind.SEQPACKET));
        return new int[] {first, descriptors.add(new Connection(both, SocketKind.SEQPACKET))};
    }

    private Connection connection(int socket) {
        return (Connection) descriptors.get(socket);
    }

    @Override
    public PeerCredentials peer(int socket) {
        return connection(socket).peer.credentials;
    }

    @Override
    public int[] peerGroups(int socket) {
        return new int[0];
    }

    @Override
    public int receive(int socket, MemorySegment into) {
        InMemoryClient peer = connection(socket).peer;
        byte[] bytes = peer.toManager.poll();
        if (bytes == null) {
            return peer.peerClosed ? 0 : WOULD_BLOCK;
        }
        int fits = (int) Math.min(bytes.length, into.byteSize());
        MemorySegment.copy(bytes, 0, into, ValueLayout.JAVA_BYTE, 0, fits);
        if (connection(socket).kind == SocketKind.STREAM && fits < bytes.length) {
            peer.toManager.addFirst(Arrays.copyOfRange(bytes, fits, bytes.length));
            return fits;
        }
        return bytes.length;
    }

    @Override
    public Received receiveWithDescriptor(int socket, MemorySegment into) {
        return new Received(receive(socket, into), NO_DESCRIPTOR);
    }

    @Override
    public int send(int socket, MemorySegment from, int bytes) throws LinuxException {
        beforeSend.run();
        InMemoryClient peer = connection(socket).peer;
        if (peer.peerClosed) {
            throw new LinuxException("send", Integer.toString(socket), Errno.EPIPE);
        }
        if (peer.toPeer.size() >= peer.room) {
            return WOULD_BLOCK;
        }
        peer.toPeer.add(from.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE));
        return bytes;
    }

    @Override
    public int sendWithDescriptor(int socket, MemorySegment from, int bytes, int descriptor) throws LinuxException {
        int sent = send(socket, from, bytes);
        if (sent != WOULD_BLOCK && descriptors.get(descriptor) instanceof Connection end) {
            connection(socket).peer.given.add(end.peer);
        } else if (sent != WOULD_BLOCK) {
            connection(socket).peer.segment = files.memoryOf(descriptor);
        }
        return sent;
    }

    @Override
    public void closeAfterReading(int socket) {
        close(socket);
    }

    // ---- poll

    @Override
    public int open() {
        return descriptors.add(new PollSet(new LinkedHashMap<>()));
    }

    /** Returns whether a descriptor is a poll set. */
    public boolean isPollSet(int descriptor) {
        return descriptors.isOpen(descriptor) && descriptors.get(descriptor) instanceof PollSet;
    }

    private Map<Integer, Watch> watched(int poll) {
        return ((PollSet) descriptors.get(poll)).watched;
    }

    @Override
    public void add(int poll, int descriptor, int interest, long token) {
        descriptors.get(descriptor);
        if (watched(poll).put(descriptor, new Watch(interest, token)) != null) {
            throw new AssertionError("watched twice: " + descriptor);
        }
    }

    @Override
    public void change(int poll, int descriptor, int interest, long token) {
        if (watched(poll).put(descriptor, new Watch(interest, token)) == null) {
            throw new AssertionError("not watched: " + descriptor);
        }
    }

    @Override
    public void remove(int poll, int descriptor) {
        descriptors.get(descriptor);
        if (watched(poll).remove(descriptor) == null) {
            throw new AssertionError("not watched: " + descriptor);
        }
    }

    @Override
    public int await(int poll, long timeoutNs, Ready ready) {
        Map<Long, Integer> events = new LinkedHashMap<>();
        watched(poll).forEach((descriptor, watch) -> {
            int now = (readable(descriptors.get(descriptor)) ? READABLE : 0)
                    | (writable(descriptors.get(descriptor)) ? WRITABLE : 0);
            if ((now & watch.interest) != 0) {
                events.put(watch.token, now & watch.interest);
            }
        });
        events.forEach(ready::ready);
        return events.size();
    }

    private static boolean readable(Object thing) {
        return switch (thing) {
            case Listener listener -> !listener.waiting.isEmpty();
            case Connection connection -> !connection.peer.toManager.isEmpty() || connection.peer.peerClosed;
            case Pidfd pidfd -> pidfd.peer.dead;
            case Wakeup wakeup -> wakeup.woken;
            default -> throw new AssertionError("cannot be watched: " + thing);
        };
    }

    private static boolean writable(Object thing) {
        return thing instanceof Connection connection && connection.peer.toPeer.size() < connection.peer.room;
    }

    @Override
    public int openWakeup() {
        return descriptors.add(new Wakeup());
    }

    @Override
    public void wake(int wakeup) {
        ((Wakeup) descriptors.get(wakeup)).woken = true;
    }

    @Override
    public void clearWakeup(int wakeup) {
        ((Wakeup) descriptors.get(wakeup)).woken = false;
    }

    // ---- processes

    @Override
    public int uid() {
        return uid;
    }

    @Override
    public int pid() {
        return 1000;
    }

    @Override
    public int pidfdOfPeer(int socket, PeerCredentials peer) {
        return peer.pid() == 0 ? NO_PIDFD : descriptors.add(new Pidfd(connection(socket).peer));
    }

    @Override
    public boolean signal(int pidfd, int signal) {
        InMemoryClient peer = ((Pidfd) descriptors.get(pidfd)).peer;
        peer.signals.add(signal);
        return !peer.dead;
    }

    @Override
    public Activity activity(int pid) {
        return activity;
    }

    @Override
    public void newSession() {
    }

    @Override
    public long startTicks(int pid) {
        return 4711;
    }

    @Override
    public boolean exists(int pid) {
        return pid == pid() || processes.contains(pid);
    }

    @Override
    public void close(int descriptor) {
        if (descriptors.get(descriptor) instanceof Connection connection) {
            connection.peer.managerClosed = true;
        }
        descriptors.remove(descriptor);
    }
}

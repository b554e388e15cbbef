package io.tessera.os.linux;

import static io.tessera.os.LinuxException.checked;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.tessera.os.Errno;
import io.tessera.os.LinuxException;
import io.tessera.os.PeerCredentials;
import io.tessera.os.SocketKind;
import io.tessera.os.SocketPort;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** UNIX sockets of Linux. Numbers are those of the kernel's generic headers, equal on x86-64 and AArch64. */
final class LinuxSockets implements SocketPort {
    private static final int AF_UNIX = 1;
    private static final int SOCK_NONBLOCK = 04000;
    private static final int SOCK_CLOEXEC = 02000000;
    private static final int SOL_SOCKET = 1;
    private static final int SO_PEERCRED = 17;
    private static final int SO_PEERGROUPS = 59;
    /** NGROUPS_MAX of Linux. */
    private static final int MOST_GROUPS = 65_536;
    private static final int SCM_RIGHTS = 1;
    private static final int MSG_TRUNC = 0x20;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int MSG_CMSG_CLOEXEC = 0x40000000;
    private static final int SHUT_RDWR = 2;
    /** sizeof(sockaddr_un): family and 108 bytes of path, of which the last one is a zero. */
    private static final int ADDRESS_BYTES = 110;
    private static final int LONGEST_PATH = 107;
    /** sizeof(msghdr), sizeof(cmsghdr) and CMSG_SPACE of one descriptor on 64-bit Linux. */
    private static final int MESSAGE_HEADER_BYTES = 56;
    private static final int CONTROL_HEADER_BYTES = 16;
    private static final int CONTROL_BYTES = 24;
    /** Maximum number of packets to discard: more than a socket's queue can hold (bounded by net.unix.max_dgram_qlen, and by its buffer). */
    private static final int MOST_UNREAD_PACKETS = 100_000;
    private static final int UNREAD_BYTES = 65_536;

    @Override
    public int listen(Path path, SocketKind kind, int permissions, int backlog) throws LinuxException {
        int socket = socket(kind, path);
        boolean done = false;
        try (Arena arena = Arena.ofConfined()) {
            // The file gets the socket's mode less the umask, so it is never wider than asked for; chmod corrects it. Only this user can write the
            // directory, so the name cannot be replaced in between.
            checked(LibC.fchmod(socket, permissions), "fchmod", path);
            checked(LibC.bind(socket, address(path, arena), ADDRESS_BYTES), "bind", path);
            checked(LibC.chmod(arena.allocateFrom(path.toString()), permissions), "chmod", path);
            checked(LibC.listen(socket, backlog), "listen", path);
            done = true;
            return socket;
        } finally {
            if (!done) {
                close(socket);
            }
        }
    }

    @Override
    public int connect(Path path, SocketKind kind) throws LinuxException {
        int socket = socket(kind, path);
        boolean done = false;
        try (Arena arena = Arena.ofConfined()) {
            checked(LibC.connect(socket, address(path, arena), ADDRESS_BYTES), "connect", path);
            done = true;
            return socket;
        } finally {
            if (!done) {
                close(socket);
            }
        }
    }

    @Override
    public int[] pair() throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment both = arena.allocate(JAVA_INT, 2);
            checked(LibC.socketpair(AF_UNIX, SocketKind.SEQPACKET.type() | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, both), "socketpair", "");
            return both.toArray(JAVA_INT);
        }
    }

    private static int socket(SocketKind kind, Path path) throws LinuxException {
        return checked(LibC.socket(AF_UNIX, kind.type() | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket", path);
    }

    private static MemorySegment address(Path path, Arena arena) throws LinuxException {
        byte[] name = path.toString().getBytes(StandardCharsets.UTF_8);
        if (name.length > LONGEST_PATH) {
            throw new LinuxException("bind or connect", path + ", longer than " + LONGEST_PATH + " bytes", 36);
        }
        MemorySegment address = arena.allocate(ADDRESS_BYTES, 2);
        address.set(JAVA_SHORT, 0, (short) AF_UNIX);
        MemorySegment.copy(name, 0, address, JAVA_BYTE, 2, name.length);
        return address;
    }

    @Override
    public int accept(int listener) throws LinuxException {
        int result = LibC.accept4(listener, SOCK_CLOEXEC | SOCK_NONBLOCK);
        // ECONNABORTED (103): the peer ended the connection before it was accepted; treat it as if there had been none.
        if (result == -Errno.EAGAIN || result == -Errno.EINTR || result == -103) {
            return WOULD_BLOCK;
        }
        return checked(result, "accept4", listener);
    }

    @Override
    public PeerCredentials peer(int socket) throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment credentials = arena.allocate(12, 4);
            MemorySegment bytes = arena.allocateFrom(JAVA_INT, 12);
            checked(LibC.getsockopt(socket, SOL_SOCKET, SO_PEERCRED, credentials, bytes), "getsockopt SO_PEERCRED",
                    socket);
            return new PeerCredentials(credentials.get(JAVA_INT, 0), credentials.get(JAVA_INT, 4),
                    credentials.get(JAVA_INT, 8));
        }
    }

    @Override
    public int[] peerGroups(int socket) throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment groups = arena.allocate((long) MOST_GROUPS * Integer.BYTES, Integer.BYTES);
            MemorySegment bytes = arena.allocateFrom(JAVA_INT, MOST_GROUPS * Integer.BYTES);
            int result = LibC.getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups, bytes);
            if (result == -Errno.ENOPROTOOPT) {
                return new int[0];
            }
            checked(result, "getsockopt SO_PEERGROUPS", socket);
            return groups.asSlice(0, bytes.get(JAVA_INT, 0)).toArray(JAVA_INT);
        }
    }

    @Override
    public int receive(int socket, MemorySegment into) throws LinuxException {
        // Without room for control data the kernel closes descriptors that come along.
        return transferred(LibC.recv(socket, into, into.byteSize(), MSG_DONTWAIT | MSG_TRUNC), "recv", socket);
    }

    @Override
    public Received receiveWithDescriptor(int socket, MemorySegment into) throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            // Room for exactly one descriptor: the kernel closes those that do not fit, and no other code would.
            MemorySegment control = arena.allocate(CONTROL_BYTES, 8).asSlice(0, CONTROL_HEADER_BYTES + Integer.BYTES);
            MemorySegment message = message(arena, into, into.byteSize(), control);
            int bytes = transferred(LibC.recvmsg(socket, message, MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC),
                    "recvmsg", socket);
            boolean came = bytes > 0 && message.get(JAVA_LONG, 40) >= CONTROL_HEADER_BYTES + 4
                    && control.get(JAVA_INT, 8) == SOL_SOCKET && control.get(JAVA_INT, 12) == SCM_RIGHTS;
            return new Received(bytes, came ? control.get(JAVA_INT, CONTROL_HEADER_BYTES) : NO_DESCRIPTOR);
        }
    }

    @Override
    public int send(int socket, MemorySegment from, int bytes) throws LinuxException {
        return transferred(LibC.send(socket, from, bytes, MSG_DONTWAIT | MSG_NOSIGNAL), "send", socket);
    }

    @Override
    public int sendWithDescriptor(int socket, MemorySegment from, int bytes, int descriptor) throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment control = arena.allocate(CONTROL_BYTES, 8);
            control.set(JAVA_LONG, 0, CONTROL_HEADER_BYTES + 4);
            control.set(JAVA_INT, 8, SOL_SOCKET);
            control.set(JAVA_INT, 12, SCM_RIGHTS);
            control.set(JAVA_INT, CONTROL_HEADER_BYTES, descriptor);
            MemorySegment message = message(arena, from, bytes, control);
            return transferred(LibC.sendmsg(socket, message, MSG_DONTWAIT | MSG_NOSIGNAL), "sendmsg", socket);
        }
    }

    /** Builds a msghdr with one iovec and the control data: offsets of 64-bit Linux. */
    private static MemorySegment message(Arena arena, MemorySegment data, long bytes, MemorySegment control) {
        MemorySegment vector = arena.allocate(16, 8);
        vector.set(ADDRESS, 0, data);
        vector.set(JAVA_LONG, 8, bytes);
        MemorySegment message = arena.allocate(MESSAGE_HEADER_BYTES, 8);
        message.set(ADDRESS, 16, vector);
        message.set(JAVA_LONG, 24, 1);
        message.set(ADDRESS, 32, control);
        message.set(JAVA_LONG, 40, control.byteSize());
        return message;
    }

    private static int transferred(long result, String call, int socket) throws LinuxException {
        if (result == -Errno.EAGAIN || result == -Errno.EINTR || result == -Errno.ENOBUFS) {
            return WOULD_BLOCK;
        }
        return checked(Math.toIntExact(result), call, socket);
    }

    @Override
    public void closeAfterReading(int socket) throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment scratch = arena.allocate(UNREAD_BYTES); // a stream has no packets: small pieces would take a call for each
            LibC.shutdown(socket, SHUT_RDWR); // fails only if the peer is gone, and then nothing can be saved
            for (int i = 0; i < MOST_UNREAD_PACKETS; i++) {
                if (LibC.recv(socket, scratch, scratch.byteSize(), MSG_DONTWAIT) <= 0) {
                    break;
                }
            }
        } finally {
            close(socket);
        }
    }

    @Override
    public void close(int descriptor) throws LinuxException {
        checked(LibC.close(descriptor), "close", descriptor);
    }
}

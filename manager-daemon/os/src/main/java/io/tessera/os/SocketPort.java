package io.tessera.os;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * UNIX sockets. All sockets created here are non-blocking and closed on exec; the caller owns and closes the descriptors. Buffers are native memory.
 */
public interface SocketPort {
    /** Result of a call that would have to wait. */
    int WOULD_BLOCK = -1;
    /** Value if no descriptor came with a packet. */
    int NO_DESCRIPTOR = -1;

    /**
     * Result of a receive.
     *
     * @param bytes      length of the packet, even if it was longer than the buffer; 0: the peer ended; WOULD_BLOCK
     * @param descriptor the descriptor that came along, owned by the receiver, or NO_DESCRIPTOR
     */
    record Received(int bytes, int descriptor) {
    }

    /**
     * Creates a listening socket with the given permissions.
     *
     * @throws LinuxException if the path is taken, too long (107 bytes), or not writable
     */
    int listen(Path path, SocketKind kind, int permissions, int backlog) throws LinuxException;

    /** Connects; UNIX sockets do so at once or not at all. */
    int connect(Path path, SocketKind kind) throws LinuxException;

    /**
     * Creates two packet sockets that are connected with each other.
     *
     * @return their descriptors: what is sent into either is received from the other
     */
    int[] pair() throws LinuxException;

    /** Accepts the next connection, or returns {@link #WOULD_BLOCK}. */
    int accept(int listener) throws LinuxException;

    /** Returns the peer at the other end. */
    PeerCredentials peer(int socket) throws LinuxException;

    /**
     * Returns the groups of the peer at the other end beside its effective one (SO_PEERGROUPS); none if the kernel does not report them.
     */
    int[] peerGroups(int socket) throws LinuxException;

    /**
     * Receives a packet or bytes; descriptors that come along are closed.
     *
     * @return length of the packet, even if it was longer than the buffer; 0: the peer ended; {@link #WOULD_BLOCK}
     */
    int receive(int socket, MemorySegment into) throws LinuxException;

    /** Receives a packet with the descriptor that it may carry. */
    Received receiveWithDescriptor(int socket, MemorySegment into) throws LinuxException;

    /** Sends a packet, or the part of a stream that fits. Returns the bytes taken, or {@link #WOULD_BLOCK}. */
    int send(int socket, MemorySegment from, int bytes) throws LinuxException;

    /** Sends a packet with a descriptor; the receiver gets its own copy. Returns the bytes taken, or {@link #WOULD_BLOCK}. */
    int sendWithDescriptor(int socket, MemorySegment from, int bytes, int descriptor) throws LinuxException;

    /**
     * Ends a connection so that the peer can still read what was sent. Closing a UNIX socket with unread packets gives the peer ECONNRESET in place
     * of the last message, so both directions are shut first and the remaining input is read and discarded.
     */
    void closeAfterReading(int socket) throws LinuxException;

    /** Closes a descriptor. */
    void close(int descriptor) throws LinuxException;
}

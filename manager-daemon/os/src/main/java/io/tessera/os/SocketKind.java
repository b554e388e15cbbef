package io.tessera.os;

/** Kinds of UNIX socket in use (bits/socket_type.h). */
public enum SocketKind {
    /** A stream of bytes: the control socket. */
    STREAM(1),
    /** Packets in order: the registration socket. */
    SEQPACKET(5);

    private final int type;

    SocketKind(int type) {
        this.type = type;
    }

    /** Returns the number {@code SOCK_*}. */
    public int type() {
        return type;
    }
}

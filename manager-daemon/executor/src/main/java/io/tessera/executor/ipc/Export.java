package io.tessera.executor.ipc;

/** An object that one client has shared with the other clients of its tenant. The fields that can change are guarded by {@code Exports}. */
final class Export {
    enum Kind {
        /** Device memory; its value is the address. */
        MEMORY,
        /** An event; its value is the driver's handle. */
        EVENT
    }

    /** The numbers that a handle has to contain. */
    record Key(long first, long second) {
    }

    /** The owner, by identity. */
    final Object owner;
    final String tenant;
    final Kind kind;
    final long value;
    final long bytes;
    final Key key;
    /** Number of clients that have it open. */
    int openers;
    /** Whether the owner has ended it: it ends with the last opener. */
    boolean ended;
    /** Bytes that are charged to the tenant until the last opener closes it, once the owner has ended it. */
    long charged;

    Export(Object owner, String tenant, Kind kind, long value, long bytes, Key key) {
        this.owner = owner;
        this.tenant = tenant;
        this.kind = kind;
        this.value = value;
        this.bytes = bytes;
        this.key = key;
    }
}

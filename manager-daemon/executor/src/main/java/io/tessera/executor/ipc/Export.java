package io.tessera.executor.ipc;

/**
 * Something that one client has handed to the others of its tenant. {@code Exports} guards the fields that can change.
 */
final class Export {
    /** What it is. */
    enum Kind {
        /** Device memory; its value is the address. */
        MEMORY,
        /** An event; its value is the driver's handle. */
        EVENT
    }

    /** What a handle proves. */
    record Key(long first, long second) {
    }

    /** Its owner, by identity. */
    final Object owner;
    final String tenant;
    final Kind kind;
    final long value;
    final long bytes;
    final Key key;
    /** Clients that have it open. */
    int openers;
    /** The owner has ended it: it goes with the last opener. */
    boolean ended;
    /** Bytes that count against the tenant until it goes, once the owner has ended it. */
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

package io.tessera.protocol.relay;

/**
 * Handles that an executor gives out for objects of the driver: canonical user addresses that are never used as addresses. {@code tag | type << 40 |
 * device << 36 | index << 4}; the index has 32 bits, and only the executor interprets it. Stateless.
 */
public final class RelayHandle {
    private static final int TYPE_SHIFT = 40;
    private static final int DEVICE_SHIFT = 36;
    private static final int INDEX_SHIFT = 4;
    private static final int MOST_DEVICES = 16;

    private RelayHandle() {
    }

    /** Composes a handle; the type is below 32, the device below 16. */
    public static long of(int type, int device, int index) {
        return RelayLayout.HANDLE_TAG | (long) type << TYPE_SHIFT | (long) device % MOST_DEVICES << DEVICE_SHIFT
                | Integer.toUnsignedLong(index) << INDEX_SHIFT;
    }

    /** Returns its type, 0 to 31. */
    public static int type(long handle) {
        return (int) (handle >>> TYPE_SHIFT) & 0x1f;
    }

    /** Returns its device. */
    public static int device(long handle) {
        return (int) (handle >>> DEVICE_SHIFT) & MOST_DEVICES - 1;
    }

    /** Returns its index. */
    public static int index(long handle) {
        return (int) (handle >>> INDEX_SHIFT);
    }
}

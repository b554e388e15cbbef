package io.tessera.manager.placement;

import io.tessera.protocol.DeviceUuid;
import java.util.Locale;

/**
 * How much a device is used. Immutable.
 *
 * @param device        which one
 * @param capacityBytes what clients may have of it
 * @param freeBytes     of that, what nobody has or may still take: of a tenant with a limit the whole limit counts as taken
 * @param clients       processes on it, and programs that are about to come
 * @param starting      of these, those that are about to come
 * @param busyShare     part of the time that it was used lately, from 0 to 1
 */
public record DeviceUse(DeviceUuid device, long capacityBytes, long freeBytes, int clients, int starting, double busyShare) {
    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;

    /** The assumed need of a program that does not state its memory: an eighth of the device. */
    private static final int UNKNOWN_PART = 8;

    /** The same with more programs that are about to come, and the bytes that are kept for them. */
    public DeviceUse with(int more, long keptBytes) {
        return new DeviceUse(device, capacityBytes, Math.max(0, freeBytes - keptBytes), clients + more, starting + more, busyShare);
    }

    /**
     * The memory that a program takes.
     *
     * @param wishedBytes what it says that it needs at most; 0: it does not say
     */
    public long needBytes(long wishedBytes) {
        return wishedBytes > 0 ? wishedBytes : capacityBytes / UNKNOWN_PART;
    }

    boolean fits(long wishedBytes) {
        return needBytes(wishedBytes) <= freeBytes;
    }

    long busyPercent() {
        return Math.round(busyShare * 100);
    }

    String clientsText() {
        return clients + (clients == 1 ? " client" : " clients");
    }

    String freeText() {
        return text(freeBytes);
    }

    static String text(long bytes) {
        if (bytes < MIB) {
            return bytes + " bytes";
        }
        return bytes < GIB ? bytes / MIB + " MiB" : String.format(Locale.ROOT, "%.1f GiB", (double) bytes / GIB);
    }
}

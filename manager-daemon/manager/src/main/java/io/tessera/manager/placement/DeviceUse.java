package io.tessera.manager.placement;

import io.tessera.protocol.DeviceUuid;
import java.util.Locale;

/**
 * Use of a device. Immutable.
 *
 * @param device        UUID of the device
 * @param capacityBytes memory that clients may have on it
 * @param freeBytes     the part of it that no client has or may still take; of a tenant with a limit the whole limit counts as taken
 * @param clients       number of processes on it, and of programs that are about to come
 * @param starting      number of programs among them that are about to come
 * @param busyShare     recent share of the time in which it was busy, from 0 to 1
 */
public record DeviceUse(DeviceUuid device, long capacityBytes, long freeBytes, int clients, int starting, double busyShare) {
    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;

    /** The assumed need of a program that does not state its memory: an eighth of the device. */
    private static final int UNKNOWN_PART = 8;

    /** Returns the use with more programs that are about to come, and the bytes that are kept for them. */
    public DeviceUse with(int more, long keptBytes) {
        return new DeviceUse(device, capacityBytes, Math.max(0, freeBytes - keptBytes), clients + more, starting + more, busyShare);
    }

    /**
     * Returns the memory that a program takes.
     *
     * @param wishedBytes maximum need that the program states; 0: not stated
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

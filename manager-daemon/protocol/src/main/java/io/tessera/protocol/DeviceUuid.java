package io.tessera.protocol;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * UUID of a device, written as the vendor's tools write it: {@code GPU-} and eight, four, four, four and twelve hexadecimal digits.
 *
 * @param high the first eight bytes, the first byte as the most significant one
 * @param low  the last eight bytes
 */
public record DeviceUuid(long high, long low) {
    private static final ValueLayout.OfLong BYTES_IN_ORDER = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final Pattern TEXT = Pattern.compile("GPU-\\p{XDigit}{8}(-\\p{XDigit}{4}){3}-\\p{XDigit}{12}");

    /** Reads 16 bytes. */
    public static DeviceUuid read(MemorySegment from, long offset) {
        return new DeviceUuid(from.get(BYTES_IN_ORDER, offset), from.get(BYTES_IN_ORDER, offset + 8));
    }

    /** Reads {@code GPU-...}; absent if the text is not a UUID. */
    public static Optional<DeviceUuid> parse(String text) {
        if (!TEXT.matcher(text).matches()) {
            return Optional.empty();
        }
        UUID uuid = UUID.fromString(text.substring("GPU-".length()));
        return Optional.of(new DeviceUuid(uuid.getMostSignificantBits(), uuid.getLeastSignificantBits()));
    }

    /** Writes 16 bytes. */
    public void write(MemorySegment to, long offset) {
        to.set(BYTES_IN_ORDER, offset, high);
        to.set(BYTES_IN_ORDER, offset + 8, low);
    }

    @Override
    public String toString() {
        return "GPU-" + new UUID(high, low);
    }
}

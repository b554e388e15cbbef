package io.tessera.cli.text;

import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Conversion between sizes in bytes and text, in powers of 1024. */
public final class Sizes {
    private static final String[] UNITS = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

    /** What {@link #parse} accepts, for error messages. */
    public static final String ACCEPTED = "a whole number with a unit: KiB, MiB, GiB or TiB; for example 8GiB";

    private static final Map<String, Long> UNIT_BYTES = Map.of("", 1L, "B", 1L, "KiB", 1L << 10, "K", 1L << 10, "MiB",
            1L << 20, "M", 1L << 20, "GiB", 1L << 30, "G", 1L << 30, "TiB", 1L << 40, "T", 1L << 40);
    private static final Pattern TEXT = Pattern.compile("([1-9]\\d{0,17})([A-Za-z]*)");

    private Sizes() {
    }

    /** Parses a text like {@code 8GiB} to bytes; empty if it is malformed, 0, or more than 2^63 bytes. */
    public static OptionalLong parse(String text) {
        Matcher matcher = TEXT.matcher(text.strip());
        Long unit = matcher.matches() ? UNIT_BYTES.get(matcher.group(2)) : null;
        if (unit == null || Long.parseLong(matcher.group(1)) > Long.MAX_VALUE / unit) {
            return OptionalLong.empty();
        }
        return OptionalLong.of(Long.parseLong(matcher.group(1)) * unit);
    }

    /** {@code 512 B}, {@code 1.5 GiB}: with one decimal place from KiB on. */
    public static String format(long bytes) {
        if (Math.abs(bytes) < 1024) {
            return bytes + " B";
        }
        double value = bytes;
        int unit = -1;
        // 1023.95 would be shown as 1024.0 of the smaller unit.
        while (Math.abs(value) >= 1023.95 && unit < UNITS.length - 1) {
            value /= 1024;
            unit++;
        }
        return String.format(Locale.ROOT, "%.1f %s", value, UNITS[Math.max(unit, 0)]);
    }
}

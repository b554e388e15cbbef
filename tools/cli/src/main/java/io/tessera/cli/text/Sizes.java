package io.tessera.cli.text;

import java.util.Locale;

/** Sizes in bytes as text, in powers of 1024. */
public final class Sizes {
    private static final String[] UNITS = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

    private Sizes() {
    }

    /** {@code 512 B}, {@code 1.5 GiB}: one decimal place from KiB on. */
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

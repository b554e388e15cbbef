package io.tessera.manager.settings;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads durations and sizes as people write them: {@code 100ms}, {@code 1.5s}, {@code 8GiB}. Stateless. */
public final class Quantities {
    private static final Pattern QUANTITY = Pattern.compile("(\\d{1,19}(?:\\.\\d{1,9})?)([A-Za-z]+)");
    private static final Pattern SHARE = Pattern.compile("(\\d{1,3}(?:\\.\\d{1,3})?) ?%");
    private static final Map<String, Long> NANOSECONDS = Map.of("ns", 1L, "us", 1_000L, "ms", 1_000_000L, "s",
            1_000_000_000L, "min", 60_000_000_000L);
    private static final Map<String, Long> BYTES = Map.of("B", 1L, "KiB", 1L << 10, "MiB", 1L << 20, "GiB", 1L << 30,
            "TiB", 1L << 40);

    private Quantities() {
    }

    /** Returns the nanoseconds of a text like {@code 250ms}. */
    public static long durationNs(String text) throws OptionException {
        return scaled(text, NANOSECONDS, "a duration: a number with ns, us, ms, s or min");
    }

    /** Returns the bytes of a text like {@code 8GiB}. */
    public static long sizeBytes(String text) throws OptionException {
        return scaled(text, BYTES, "a size: a number with B, KiB, MiB, GiB or TiB");
    }

    /** Returns the share in a text like {@code 25%}: above 0, at most 1. */
    public static double share(String value) throws OptionException {
        Matcher matcher = SHARE.matcher(value);
        if (!matcher.matches()) {
            throw new OptionException("\"" + value + "\" is not a share: a number with %, for example 5%");
        }
        double share = Double.parseDouble(matcher.group(1)) / 100;
        if (share <= 0 || share > 1) {
            throw new OptionException("\"" + value + "\": a share is above 0% and at most 100%");
        }
        return share;
    }

    private static long scaled(String text, Map<String, Long> units, String expected) throws OptionException {
        Matcher matcher = QUANTITY.matcher(text);
        Long unit = matcher.matches() ? units.get(matcher.group(2)) : null;
        if (unit == null) {
            throw new OptionException("\"" + text + "\" is not " + expected);
        }
        try {
            return new BigDecimal(matcher.group(1)).multiply(BigDecimal.valueOf(unit))
                    .setScale(0, RoundingMode.HALF_UP).longValueExact();
        } catch (ArithmeticException e) {
            throw new OptionException("\"" + text + "\" is too large for " + expected);
        }
    }
}

package io.tessera.cli.text;

import java.math.BigDecimal;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Conversion between durations in nanoseconds and text. */
public final class Durations {
    /** What {@link #parseNs} accepts, for error messages. */
    public static final String ACCEPTED = "a number with a unit: ns, us, ms, s or min; for example 500ms, 2s, 1.5s";

    private static final long SECOND_NS = 1_000_000_000L;
    private static final Map<String, Long> UNIT_NS = Map.of("ns", 1L, "us", 1_000L, "ms", 1_000_000L, "s", SECOND_NS,
            "min", 60 * SECOND_NS);
    private static final Pattern TEXT = Pattern.compile("(\\d{1,18}(?:\\.\\d{1,9})?)\\s?(ns|us|ms|s|min)");

    private Durations() {
    }

    /** Parses a text like {@code 500ms} to nanoseconds; empty if it is malformed or more than 2^63 nanoseconds. */
    public static OptionalLong parseNs(String text) {
        Matcher matcher = TEXT.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!matcher.matches()) {
            return OptionalLong.empty();
        }
        BigDecimal ns = new BigDecimal(matcher.group(1)).multiply(BigDecimal.valueOf(UNIT_NS.get(matcher.group(2))));
        if (ns.compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) > 0) {
            return OptionalLong.empty();
        }
        return OptionalLong.of(ns.longValue());
    }

    /**
     * Formats a duration as short text with a unit: {@code 850 ns}, {@code 1.2 ms}, {@code 12.0 s}, {@code 2 min 5 s}, {@code 3 h 7 min}.
     */
    public static String format(long ns) {
        if (ns < 1_000) {
            return ns + " ns";
        }
        if (ns < 999_950) {
            return decimal(ns, 1_000, "us");
        }
        if (ns < 999_950_000) {
            return decimal(ns, 1_000_000, "ms");
        }
        if (ns < 59_950_000_000L) {
            return decimal(ns, SECOND_NS, "s");
        }
        long seconds = ns / SECOND_NS;
        if (seconds < 3_600) {
            return seconds / 60 + " min " + seconds % 60 + " s";
        }
        if (seconds < 86_400) {
            return seconds / 3_600 + " h " + seconds % 3_600 / 60 + " min";
        }
        return seconds / 86_400 + " d " + seconds % 86_400 / 3_600 + " h";
    }

    private static String decimal(long ns, long unitNs, String unit) {
        return String.format(Locale.ROOT, "%.1f %s", (double) ns / unitNs, unit);
    }
}

package io.tessera.cli.text;

import java.util.Locale;
import java.util.OptionalDouble;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Conversion between parts of a whole and text: {@code 25 %}. Stateless. */
public final class Shares {
    /** What {@link #parse} accepts, for error messages. */
    public static final String ACCEPTED = "above 0% and at most 100%, for example 25%";
    private static final Pattern TEXT = Pattern.compile("(\\d{1,3}(?:\\.\\d{1,3})?)\\s?%");

    private Shares() {
    }

    /** Parses a text like {@code 25%}; empty if it is malformed, 0, or more than the whole. */
    public static OptionalDouble parse(String text) {
        Matcher matcher = TEXT.matcher(text.strip());
        double share = matcher.matches() ? Double.parseDouble(matcher.group(1)) / 100 : 0;
        return share > 0 && share <= 1 ? OptionalDouble.of(share) : OptionalDouble.empty();
    }

    /**
     * Formats a part with one decimal place if it is not a whole number, and with three below a tenth of a per cent: {@code 25 %}, {@code
     * 12.5 %}, {@code 0.001 %}.
     */
    public static String format(double share) {
        double percent = Math.round(share * 1_000) / 10.0;
        String format = share > 0 && share < 0.001 ? "%.3f" : percent == Math.rint(percent) ? "%.0f" : "%.1f";
        return String.format(Locale.ROOT, format, share < 0.001 ? share * 100 : percent) + " %";
    }
}

package io.tessera.executor.fence.report;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The line of a failed assertion. Stateless. */
final class AssertionLine {
    /** {@code file:line: function: condition}; a condition may have colons. */
    private static final Pattern PARTS = Pattern.compile("(.+?):(\\d+): (.+?): (.*)", Pattern.DOTALL);

    private AssertionLine() {
    }

    /**
     * Returns the line in CUDA's form.
     *
     * @param text   file, line, function and condition
     * @param thread name of the thread, preceded by a blank; empty: unknown
     */
    static String of(String text, String thread) {
        Matcher parts = PARTS.matcher(text);
        String where = parts.matches() ? parts.group(1) + ":" + parts.group(2) + ": " + parts.group(3) : text;
        String condition = parts.matches() ? parts.group(4) : "";
        return where + ":" + thread + " Assertion `" + condition + "` failed.";
    }
}

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
     * As CUDA prints it.
     *
     * @param text   file, line, function and condition
     * @param thread which one it was, with a blank before it; empty: that is not known
     */
    static String of(String text, String thread) {
        Matcher parts = PARTS.matcher(text);
        String where = parts.matches() ? parts.group(1) + ":" + parts.group(2) + ": " + parts.group(3) : text;
        String condition = parts.matches() ? parts.group(4) : "";
        return where + ":" + thread + " Assertion `" + condition + "` failed.";
    }
}

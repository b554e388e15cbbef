package io.tessera.protocol.message;

import java.util.Locale;
import java.util.regex.Pattern;

/** Escapes text of programs and users for terminals and logs, so that a label cannot control a terminal or look like a line of its own. Stateless. */
public final class EscapedText {
    private static final Pattern CONTROL = Pattern.compile("[\\p{Cc}\\p{Cf}\\u2028\\u2029]");

    private EscapedText() {
    }

    /** Returns a text in which every control character is escaped, {@code \x1b} for example. */
    public static String of(String text) {
        return CONTROL.matcher(text).replaceAll(found -> {
            int character = found.group().codePointAt(0);
            return String.format(Locale.ROOT, character < 0x100 ? "\\\\x%02x" : "\\\\u%04x", character);
        });
    }
}

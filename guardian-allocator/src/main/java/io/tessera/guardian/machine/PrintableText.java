package io.tessera.guardian.machine;

/** Makes texts from untrusted files safe for logs and terminals. Stateless. */
public final class PrintableText {
    private static final String CUT = "...";

    private PrintableText() {
    }

    /**
     * The text with {@code ?} in place of control characters and of characters that change how others are shown, and of a bounded length.
     *
     * @param most characters that are left at most, before three dots
     */
    public static String of(String text, int most) {
        StringBuilder printable = new StringBuilder(Math.min(text.length(), most) + CUT.length());
        text.chars().limit(most).forEach(c -> printable.append(isUnprintable(c) ? '?' : (char) c));
        return text.length() > most ? printable.append(CUT).toString() : printable.toString();
    }

    private static boolean isUnprintable(int c) {
        int type = Character.getType(c);
        return Character.isISOControl(c) || type == Character.FORMAT || type == Character.LINE_SEPARATOR || type == Character.PARAGRAPH_SEPARATOR;
    }
}

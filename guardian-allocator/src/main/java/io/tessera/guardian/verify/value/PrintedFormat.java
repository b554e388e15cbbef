package io.tessera.guardian.verify.value;

import java.util.ArrayList;
import java.util.List;

/**
 * The arguments that a format of {@code vprintf} reads. Immutable.
 *
 * @param bytes   number of bytes
 * @param align   log2 of their alignment
 * @param strings offsets of pointers to strings
 */
public record PrintedFormat(long bytes, int align, List<Long> strings) {
    private static final String FLAGS = "-+ #0123456789.*";
    private static final String LENGTHS = "hljzt";
    private static final String WORDS = "diuoxXc";
    private static final String REALS = "fFeEgGaAp";

    /** The format, or null where it has a conversion that is not known. */
    public static PrintedFormat of(byte[] text) {
        long at = 0;
        int align = 0;
        List<Long> strings = new ArrayList<>(0);
        for (int i = 0; text != null && i < text.length && text[i] != 0; i++) {
            if (text[i] != '%') {
                continue;
            }
            boolean wide = false;
            for (i++; i < text.length && FLAGS.indexOf(text[i]) >= 0; i++) {
                if (text[i] == '*') {
                    at = (at + 3 & -4) + Integer.BYTES;
                    align = Math.max(align, 2);
                }
            }
            for (; i < text.length && LENGTHS.indexOf(text[i]) >= 0; i++) {
                wide |= text[i] != 'h';
            }
            char conversion = i < text.length ? (char) text[i] : 0;
            boolean word = WORDS.indexOf(conversion) >= 0;
            if (conversion == '%') {
                continue;
            }
            if (!word && REALS.indexOf(conversion) < 0 && conversion != 's') {
                return null;
            }
            int size = word && !wide ? Integer.BYTES : Long.BYTES;
            at = at + size - 1 & -size;
            if (conversion == 's') {
                strings.add(at);
            }
            at += size;
            align = Math.max(align, Value.tz(size));
        }
        return text == null ? null : new PrintedFormat(at, align, strings);
    }
}

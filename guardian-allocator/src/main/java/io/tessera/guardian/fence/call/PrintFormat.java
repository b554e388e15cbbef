package io.tessera.guardian.fence.call;

import java.util.ArrayList;
import java.util.List;

/**
 * The arguments that a format of {@code vprintf} reads from its buffer. Immutable.
 *
 * @param bytes     bytes of the arguments
 * @param alignment required alignment of the buffer
 * @param strings   offsets of those that are pointers to strings
 */
public record PrintFormat(long bytes, int alignment, List<Long> strings) {
    /** Reads a format; null where it has conversions that are not understood. */
    public static PrintFormat of(String format) {
        long bytes = 0;
        int alignment = 1;
        List<Long> strings = new ArrayList<>();
        for (int i = 0; i < format.length(); i++) {
            if (format.charAt(i) != '%') {
                continue;
            }
            boolean wide = false;
            i++;
            while (i < format.length() && "-+ #0123456789.*hlLqjzt".indexOf(format.charAt(i)) >= 0) {
                char c = format.charAt(i++);
                wide |= "lLqjzt".indexOf(c) >= 0;
                bytes += c == '*' ? Integer.BYTES : 0;
                alignment = c == '*' ? Math.max(alignment, Integer.BYTES) : alignment;
            }
            char conversion = i < format.length() ? format.charAt(i) : 0;
            int size = switch (conversion) {
                case '%' -> 0;
                case 'd', 'i', 'u', 'o', 'x', 'X', 'c' -> wide ? Long.BYTES : Integer.BYTES;
                case 'f', 'F', 'e', 'E', 'g', 'G', 'a', 'A', 'p' -> Long.BYTES;
                case 's' -> wide ? -1 : Long.BYTES;
                default -> -1;
            };
            if (size < 0) {
                return null;
            }
            bytes = size == 0 ? bytes : (bytes + size - 1 & -size) + size;
            alignment = Math.max(alignment, size);
            if (conversion == 's') {
                strings.add(bytes - size);
            }
        }
        return new PrintFormat(bytes, alignment, strings);
    }

    /** A format that prints the text of another one as it stands, and takes no arguments. */
    public static String literal(String format) {
        return format.replace("%", "%%");
    }
}

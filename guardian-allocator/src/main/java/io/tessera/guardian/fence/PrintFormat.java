package io.tessera.guardian.fence;

/** What a format of {@code vprintf} takes from its buffer of arguments. Stateless. */
final class PrintFormat {
    private PrintFormat() {
    }

    /** Bytes of the arguments, or -1 where the format follows pointers or is not understood. */
    static long argumentBytes(String format) {
        long bytes = 0;
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
            }
            char conversion = i < format.length() ? format.charAt(i) : 0;
            int size = switch (conversion) {
                case '%' -> 0;
                case 'd', 'i', 'u', 'o', 'x', 'X', 'c' -> wide ? Long.BYTES : Integer.BYTES;
                case 'f', 'F', 'e', 'E', 'g', 'G', 'a', 'A', 'p' -> Long.BYTES;
                default -> -1;
            };
            if (size < 0) {
                return -1;
            }
            bytes = size == 0 ? bytes : (bytes + size - 1 & -size) + size;
        }
        return bytes;
    }
}

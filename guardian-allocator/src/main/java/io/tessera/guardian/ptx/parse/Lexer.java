package io.tessera.guardian.ptx.parse;

import java.nio.charset.StandardCharsets;

/**
 * Splits PTX into tokens, one at a time: after {@link #advance} the accessors describe the current one. Works on bytes,
 * copies nothing but names; a NUL ends the text, as it does for the driver. Not thread-safe.
 */
final class Lexer {
    /** Kind of a token. */
    enum Kind {
        /** End of the text. */
        END,
        /** Identifier, registers and {@code _} included. */
        NAME,
        /** Directive or modifier; its text has no dot and may contain {@code ::}. */
        DOTTED,
        /** Integer constant. */
        INTEGER,
        /** {@code 0f} constant. */
        FLOAT32,
        /** {@code 0d} or decimal floating-point constant. */
        FLOAT64,
        /** String; its text has no quotes. */
        STRING,
        /** One of the characters of the grammar, or a two-character operator. */
        PUNCTUATION
    }

    private static final byte NAME_START = 1;
    private static final byte NAME_PART = 2;
    private static final byte DIGIT = 4;
    private static final byte BLANK = 8;
    private static final byte[] CLASSES = classes();
    private static final String TWO_CHARACTERS = "<< >> <= >= == != && ||";
    private static final int SHOWN_CHARACTERS = 40;

    private final byte[] text;
    private final int end;
    private final NameTable names = new NameTable();
    private int position;
    private int line = 1;
    private int lineStart;
    private int tokenStart;
    private int tokenLine = 1;
    private int tokenColumn = 1;
    private Kind kind = Kind.END;
    private int punctuation;
    private String word;
    private long bits;
    private boolean unsigned;

    /** Creates a lexer at the first token of a text, which is neither copied nor changed. */
    Lexer(byte[] text) {
        this.text = text;
        int length = 0;
        while (length < text.length && text[length] != 0) {
            length++;
        }
        end = length;
    }

    private static byte[] classes() {
        byte[] classes = new byte[256];
        for (int c = 'a'; c <= 'z'; c++) {
            classes[c] = NAME_START | NAME_PART;
            classes[c - 'a' + 'A'] = NAME_START | NAME_PART;
        }
        for (int c = '0'; c <= '9'; c++) {
            classes[c] = NAME_PART | DIGIT;
        }
        classes['_'] = NAME_START | NAME_PART;
        classes['$'] = NAME_START | NAME_PART;
        classes['%'] = NAME_START;
        for (char c : " \t\r\f\013".toCharArray()) {
            classes[c] = BLANK;
        }
        return classes;
    }

    Kind kind() {
        return kind;
    }

    /** Text of a name, dotted word or string. */
    String word() {
        return word;
    }

    /** Character of a punctuation; of a two-character operator, first times 256 plus second. */
    int punctuation() {
        return punctuation;
    }

    /** Bits of a number. */
    long bits() {
        return bits;
    }

    /** Returns whether an integer counts as unsigned. */
    boolean unsigned() {
        return unsigned;
    }

    /** Line of the token. */
    int line() {
        return tokenLine;
    }

    /** Column of the token. */
    int column() {
        return tokenColumn;
    }

    /** The token as written, shortened. */
    String shown() {
        if (kind == Kind.END) {
            return "end of text";
        }
        int to = Math.min(position, tokenStart + SHOWN_CHARACTERS);
        String shown = new String(text, tokenStart, to - tokenStart, StandardCharsets.UTF_8);
        return "'" + shown.replaceAll("\\p{Cntrl}", " ") + (to < position ? "..." : "") + "'";
    }

    /** A number or word as written. */
    String source() {
        return new String(text, tokenStart, position - tokenStart, StandardCharsets.UTF_8);
    }

    /** A finding at the current token. */
    PtxException error(String what) {
        return new PtxException(tokenLine, tokenColumn, what);
    }

    /** Goes to the next token. */
    void advance() throws PtxException {
        skipBlanks();
        tokenStart = position;
        tokenLine = line;
        tokenColumn = position - lineStart + 1;
        if (position >= end) {
            kind = Kind.END;
            return;
        }
        int c = text[position] & 0xFF;
        int type = CLASSES[c];
        if ((type & NAME_START) != 0 && (c != '%' || isNamePart(position + 1))) {
            kind = Kind.NAME;
            word = name(position);
        } else if (c == '.') {
            position++;
            dotted();
        } else if ((type & DIGIT) != 0) {
            number();
        } else if (c == '"') {
            string();
        } else {
            punctuation(c);
        }
    }

    private boolean isNamePart(int at) {
        return at < end && (CLASSES[text[at] & 0xFF] & NAME_PART) != 0;
    }

    private void skipBlanks() throws PtxException {
        while (position < end) {
            byte c = text[position];
            if (c == '\n') {
                line++;
                lineStart = ++position;
            } else if (c == '/' && position + 1 < end && text[position + 1] == '/') {
                while (position < end && text[position] != '\n') {
                    position++;
                }
            } else if (c == '/' && position + 1 < end && text[position + 1] == '*') {
                skipComment();
            } else if (CLASSES[c & 0xFF] == BLANK) {
                position++;
            } else {
                return;
            }
        }
    }

    private void skipComment() throws PtxException {
        int startLine = line;
        int startColumn = position - lineStart + 1;
        position += 2;
        while (position + 1 < end && !(text[position] == '*' && text[position + 1] == '/')) {
            if (text[position++] == '\n') {
                line++;
                lineStart = position;
            }
        }
        if (position + 1 >= end) {
            throw new PtxException(startLine, startColumn, "comment does not end");
        }
        position += 2;
    }

    /** Scans the name that starts here. */
    private String name(int from) {
        int hash = text[from];
        position = from + 1;
        while (position < end && (CLASSES[text[position] & 0xFF] & NAME_PART) != 0) {
            hash = hash * 31 + text[position++];
        }
        return names.name(text, from, position, hash);
    }

    private void dotted() throws PtxException {
        int from = position;
        int hash = 0;
        while (position < end) {
            byte c = text[position];
            if ((CLASSES[c & 0xFF] & NAME_PART) != 0) {
                hash = hash * 31 + c;
                position++;
            } else if (c == ':' && position > from && position + 2 < end && text[position + 1] == ':'
                    && (CLASSES[text[position + 2] & 0xFF] & NAME_PART) != 0) {
                hash = hash * 31 + c;
                position += 2;
            } else {
                break;
            }
        }
        kind = Kind.DOTTED;
        if (position == from) {
            throw error("a name has to follow the dot");
        }
        word = names.name(text, from, position, hash);
    }

    private void number() throws PtxException {
        unsigned = false;
        int second = position + 1 < end ? text[position + 1] & 0xFF | 0x20 : 0;
        if (text[position] == '0' && (second == 'f' || second == 'd')) {
            kind = second == 'f' ? Kind.FLOAT32 : Kind.FLOAT64;
            int digits = second == 'f' ? 8 : 16;
            position += 2;
            bits = digits(16, digits);
            if (position - tokenStart != digits + 2) {
                throw error("a floating-point constant has " + digits + " hexadecimal digits");
            }
        } else if (text[position] == '0' && (second == 'x' || second == 'b')) {
            position += 2;
            integer(second == 'x' ? 16 : 2, position);
        } else if (!decimalFloat()) {
            boolean octal = text[position] == '0' && skipDigits(position) > position + 1;
            integer(octal ? 8 : 10, position);
        }
        if (position < end && (CLASSES[text[position] & 0xFF] & NAME_PART) != 0) {
            position++;
            throw error("malformed number " + shown());
        }
    }

    private void integer(int radix, int from) throws PtxException {
        kind = Kind.INTEGER;
        bits = digits(radix, Integer.MAX_VALUE);
        if (position == from) {
            throw error("malformed number " + shown());
        }
        unsigned = bits < 0;
        if (position < end && (text[position] == 'U' || text[position] == 'u')) {
            position++;
            unsigned = true;
        }
    }

    private long digits(int radix, int most) throws PtxException {
        long value = 0;
        long highest = Long.divideUnsigned(-1L, radix);
        for (int i = 0; i < most && position < end; i++) {
            int digit = Character.digit(text[position] & 0xFF, radix);
            if (digit < 0) {
                break;
            }
            position++;
            long next = value * radix + digit;
            boolean overflow = Long.compareUnsigned(value, highest) > 0
                    || value == highest && Long.compareUnsigned(next, digit) < 0;
            if (overflow) {
                throw error("integer needs more than 64 bits: " + shown());
            }
            value = next;
        }
        return value;
    }

    /** Reads a decimal floating-point constant, if there is one here. */
    private boolean decimalFloat() throws PtxException {
        int to = skipDigits(position);
        boolean isFloat = false;
        if (to < end && text[to] == '.') {
            isFloat = true;
            to = skipDigits(to + 1);
        }
        if (to < end && (text[to] | 0x20) == 'e') {
            int exponent = to + 1;
            if (exponent < end && (text[exponent] == '+' || text[exponent] == '-')) {
                exponent++;
            }
            int exponentEnd = skipDigits(exponent);
            isFloat |= exponentEnd > exponent;
            to = exponentEnd > exponent ? exponentEnd : to;
        }
        if (!isFloat) {
            return false;
        }
        position = to;
        kind = Kind.FLOAT64;
        bits = Double.doubleToRawLongBits(Double.parseDouble(source()));
        return true;
    }

    private int skipDigits(int from) {
        int to = from;
        while (to < end && (CLASSES[text[to] & 0xFF] & DIGIT) != 0) {
            to++;
        }
        return to;
    }

    private void string() throws PtxException {
        kind = Kind.STRING;
        position++;
        int from = position;
        while (position < end && text[position] != '"' && text[position] != '\n') {
            position += text[position] == '\\' && position + 1 < end && text[position + 1] != '\n' ? 2 : 1;
        }
        if (position >= end || text[position] != '"') {
            throw error("string does not end");
        }
        word = new String(text, from, position - from, StandardCharsets.UTF_8);
        position++;
    }

    private void punctuation(int c) throws PtxException {
        kind = Kind.PUNCTUATION;
        position++;
        if ("{}()[],;:@+-*/%!~|&^<>=?".indexOf(c) < 0) {
            throw error("unexpected character " + (c > ' ' && c < 0x7F ? "'" + (char) c + "'" : "0x"
                    + Integer.toHexString(c)));
        }
        punctuation = c;
        if (position < end && "<>=!&|".indexOf(c) >= 0) {
            int next = text[position];
            int found = TWO_CHARACTERS.indexOf("" + (char) c + (char) (next & 0xFF));
            if (found >= 0 && next != ' ') {
                punctuation = c << 8 | next;
                position++;
            }
        }
    }
}

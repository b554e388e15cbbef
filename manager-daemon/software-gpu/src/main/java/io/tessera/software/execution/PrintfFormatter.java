package io.tessera.software.execution;

import io.tessera.software.memory.MemoryMap;
import io.tessera.software.memory.RealMemory;
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * Formats what a kernel's printf got: C's format string, and arguments packed as a struct would be (integers 4 or 8
 * bytes, floats promoted to double, each at its natural alignment). Used once.
 */
final class PrintfFormatter {
    /** Longest string or format that is read. */
    private static final int MAX_TEXT = 1 << 16;
    /** Bound on the output of one call, and of one directive: a device's own buffer has 1 MiB. */
    private static final int MAX_PRINTED = 1 << 20;

    private final MemoryMap map;
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private long cursor;
    private boolean left;
    private boolean zero;
    private boolean plus;
    private boolean space;
    private boolean alternate;
    private int width;
    private int precision;
    private boolean wide;

    /**
     * Prepares.
     *
     * @param arguments real address of the packed arguments
     */
    PrintfFormatter(MemoryMap map, long arguments) {
        this.map = map;
        this.cursor = arguments;
    }

    /** Bytes up to the terminating zero. */
    static byte[] string(MemoryMap map, long address) {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        for (int i = 0; i < MAX_TEXT; i++) {
            byte next = RealMemory.getByte(map.checked(address + i, 1));
            if (next == 0) {
                break;
            }
            text.write(next);
        }
        return text.toByteArray();
    }

    byte[] format(long address) {
        byte[] format = string(map, address);
        for (int i = 0; i < format.length && out.size() < MAX_PRINTED; i++) {
            if (format[i] != '%') {
                out.write(format[i]);
            } else {
                i = directive(format, i + 1);
            }
        }
        return out.toByteArray();
    }

    /** Handles a directive that begins after the percent sign; returns the place of its last byte. */
    private int directive(byte[] format, int begin) {
        int i = flags(format, begin);
        int[] number = new int[1];
        i = number(format, i, number);
        width = number[0];
        if (width < 0) {
            left = true;
            width = -width;
        }
        precision = -1;
        if (i < format.length && format[i] == '.') {
            i = number(format, i + 1, number);
            precision = number[0];
        }
        wide = false;
        while (i < format.length && "hlLqjzt".indexOf(format[i]) >= 0) {
            wide |= format[i] != 'h';
            i++;
        }
        if (i < format.length) {
            convert((char) format[i]);
        }
        return i;
    }

    private int flags(byte[] format, int begin) {
        left = false;
        zero = false;
        plus = false;
        space = false;
        alternate = false;
        int i = begin;
        for (; i < format.length; i++) {
            switch (format[i]) {
                case '-' -> left = true;
                case '0' -> zero = true;
                case '+' -> plus = true;
                case ' ' -> space = true;
                case '#' -> alternate = true;
                default -> {
                    return i;
                }
            }
        }
        return i;
    }

    private int number(byte[] format, int begin, int[] value) {
        int i = begin;
        value[0] = 0;
        if (i < format.length && format[i] == '*') {
            value[0] = Math.clamp(next(4) << Integer.SIZE >> Integer.SIZE, -MAX_TEXT, MAX_TEXT);
            return i + 1;
        }
        while (i < format.length && format[i] >= '0' && format[i] <= '9') {
            value[0] = Math.min(value[0] * 10 + format[i] - '0', MAX_TEXT);
            i++;
        }
        return i;
    }

    private long next(int bytes) {
        cursor = cursor + bytes - 1 & -bytes;
        long place = map.checked(cursor, bytes);
        long value = bytes == 4 ? RealMemory.getInt(place) : RealMemory.getLong(place);
        cursor += bytes;
        return value;
    }

    private void convert(char conversion) {
        switch (conversion) {
            case '%' -> out.write('%');
            case 'd', 'i' -> {
                long value = next(wide ? 8 : 4);
                integer(value < 0 ? "-" : sign(), Long.toUnsignedString(Math.abs(value)));
            }
            case 'u' -> integer("", Long.toUnsignedString(unsigned()));
            case 'x' -> hexadecimal(false);
            case 'X' -> hexadecimal(true);
            case 'o' -> integer(alternate ? "0" : "", Long.toUnsignedString(unsigned(), 8));
            case 'p' -> {
                long address = next(8);
                integer("0x", Long.toHexString(address));
            }
            case 'c' -> pad("", new String(new byte[] {(byte) next(4)}, StandardCharsets.ISO_8859_1), false);
            case 's' -> {
                long address = next(8);
                String text = address == 0 ? "(null)"
                        : new String(string(map, address), StandardCharsets.ISO_8859_1);
                pad("", precision >= 0 && precision < text.length() ? text.substring(0, precision) : text, false);
            }
            case 'f', 'F', 'e', 'E', 'g', 'G', 'a', 'A' -> real(conversion, Double.longBitsToDouble(next(8)));
            default -> {
                out.write('%');
                out.write(conversion);
            }
        }
    }

    private long unsigned() {
        return wide ? next(8) : next(4) & 0xFFFFFFFFL;
    }

    private void hexadecimal(boolean upper) {
        long value = unsigned();
        String digits = Long.toHexString(value);
        String prefix = alternate && value != 0 ? "0x" : "";
        integer(upper ? prefix.toUpperCase(Locale.ROOT) : prefix, upper ? digits.toUpperCase(Locale.ROOT) : digits);
    }

    private String sign() {
        return plus ? "+" : space ? " " : "";
    }

    private void integer(String prefix, String digits) {
        String text = precision == 0 && digits.equals("0") ? "" : "0".repeat(Math.max(0, precision - digits.length()))
                + digits;
        pad(prefix, text, zero && precision < 0);
    }

    private void real(char conversion, double value) {
        boolean negative = Double.doubleToRawLongBits(value) < 0;
        String prefix = negative ? "-" : sign();
        double magnitude = Math.abs(value);
        boolean upper = Character.isUpperCase(conversion);
        String text;
        if (!Double.isFinite(value)) {
            text = Double.isNaN(value) ? "nan" : "inf";
            pad(prefix, upper ? text.toUpperCase(Locale.ROOT) : text, false);
            return;
        }
        int digits = precision < 0 ? 6 : precision;
        text = switch (Character.toLowerCase(conversion)) {
            case 'f' -> new BigDecimal(magnitude).setScale(digits, RoundingMode.HALF_EVEN).toPlainString();
            case 'e' -> exponential(magnitude, digits);
            case 'g' -> general(magnitude, Math.max(1, digits));
            default -> Double.toHexString(magnitude).replace("p", "p+").replace("p+-", "p-").replace(".0p", "p");
        };
        pad(prefix, upper ? text.toUpperCase(Locale.ROOT) : text, zero);
    }

    private static int exponent(BigDecimal value) {
        return value.signum() == 0 ? 0 : value.precision() - value.scale() - 1;
    }

    private static String exponential(double magnitude, int digits) {
        BigDecimal value = new BigDecimal(magnitude);
        if (value.signum() != 0) {
            value = value.round(new MathContext(digits + 1, RoundingMode.HALF_EVEN));
        }
        int exponent = exponent(value);
        String mantissa = value.movePointLeft(exponent).setScale(digits, RoundingMode.HALF_EVEN).toPlainString();
        return mantissa + "e" + (exponent < 0 ? "-" : "+") + (Math.abs(exponent) < 10 ? "0" : "")
                + Math.abs(exponent);
    }

    private String general(double magnitude, int digits) {
        BigDecimal rounded = new BigDecimal(magnitude);
        if (rounded.signum() != 0) {
            rounded = rounded.round(new MathContext(digits, RoundingMode.HALF_EVEN));
        }
        int exponent = exponent(rounded);
        if (exponent >= -4 && exponent < digits) {
            String text = rounded.setScale(digits - 1 - exponent, RoundingMode.HALF_EVEN).toPlainString();
            return alternate ? text : withoutZeros(text);
        }
        String text = exponential(magnitude, digits - 1);
        int e = text.indexOf('e');
        return alternate ? text : withoutZeros(text.substring(0, e)) + text.substring(e);
    }

    private static String withoutZeros(String text) {
        if (text.indexOf('.') < 0) {
            return text;
        }
        String cut = text.replaceAll("0+$", "");
        return cut.endsWith(".") ? cut.substring(0, cut.length() - 1) : cut;
    }

    private void pad(String prefix, String text, boolean zeros) {
        int missing = Math.max(0, width - prefix.length() - text.length());
        boolean filled = zeros && !left;
        String padded = left ? prefix + text + " ".repeat(missing)
                : filled ? prefix + "0".repeat(missing) + text : " ".repeat(missing) + prefix + text;
        out.writeBytes(padded.getBytes(StandardCharsets.ISO_8859_1));
    }
}

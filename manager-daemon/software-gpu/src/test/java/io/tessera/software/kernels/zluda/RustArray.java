package io.tessera.software.kernels.zluda;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Numbers that a Rust source writes as an array, {@code [1u32, 0xFF, f32::NAN]}: all have the type that one of them names, else
 * i32, or f64 if one has a fraction.
 *
 * @param type   Rust's name of the type
 * @param values as that type holds them: raw bits, sign-extended for signed integers
 */
record RustArray(String type, List<Long> values) {
    private static final Pattern CALL = Pattern.compile("(?:half::)?(f16|f32)::from_(bits|f32|f64)\\((.*)\\)");
    private static final Pattern LIMIT = Pattern.compile("(\\w+)::(MIN|MAX|min_value\\(\\)|max_value\\(\\))");
    private static final Pattern SPECIAL = Pattern.compile("(?:half::)?(f16|f32)::(NAN|INFINITY|NEG_INFINITY)(\\.to_bits\\(\\))?");
    private static final Pattern PI = Pattern.compile("std::(f32)::consts::PI(?: / 2f32)?");
    private static final Pattern LITERAL = Pattern
            .compile("(-?)(0x[0-9a-fA-F_]+?|0b[01_]+?|[0-9_]+(?:\\.[0-9_]+)?)([iu](?:8|16|32|64)|f(?:16|32|64))?");

    /** One element: its type if it names one, and its number; a fraction is a double's bits. */
    private record Element(String type, long integer, double fraction, boolean isFraction) {
        static Element whole(String type, long value) {
            return new Element(type, value, value, false);
        }

        static Element fraction(String type, double value) {
            return new Element(type, 0, value, true);
        }
    }

    /** Reads what stands between the brackets. */
    static RustArray parse(String text) {
        List<Element> elements = new ArrayList<>();
        for (String part : Commas.split(text)) {
            elements.add(element(part));
        }
        String type = elements.stream().map(Element::type).filter(name -> name != null).findFirst()
                .orElse(elements.stream().anyMatch(Element::isFraction) ? "f64" : "i32");
        return new RustArray(type, elements.stream().map(element -> bits(type, element)).toList());
    }

    private static Element element(String text) {
        Matcher matcher = CALL.matcher(text);
        if (matcher.matches()) {
            Element inner = element(matcher.group(3));
            boolean bits = matcher.group(2).equals("bits");
            double value = inner.isFraction() ? inner.fraction() : inner.integer();
            return !bits ? Element.fraction(matcher.group(1), value) : Element.fraction(matcher.group(1),
                    matcher.group(1).equals("f16") ? Float.float16ToFloat((short) inner.integer()) : Float.intBitsToFloat((int) inner.integer()));
        }
        matcher = LIMIT.matcher(text);
        if (matcher.matches()) {
            boolean signed = matcher.group(1).charAt(0) == 'i';
            int width = Integer.parseInt(matcher.group(1).substring(1));
            boolean least = matcher.group(2).toLowerCase().startsWith("min");
            long most = signed ? -1L >>> 65 - width : -1L >>> 64 - width;
            return Element.whole(matcher.group(1), least ? signed ? ~most : 0 : most);
        }
        matcher = SPECIAL.matcher(text);
        if (matcher.matches()) {
            double value = matcher.group(2).equals("NAN") ? Double.NaN
                    : matcher.group(2).equals("INFINITY") ? Double.POSITIVE_INFINITY : Double.NEGATIVE_INFINITY;
            return matcher.group(3) == null ? Element.fraction(matcher.group(1), value)
                    : Element.whole("u16", Float.floatToFloat16((float) value) & 0xFFFF);
        }
        matcher = PI.matcher(text);
        if (matcher.matches()) {
            return Element.fraction("f32", text.contains("/") ? (float) Math.PI / 2 : (float) Math.PI);
        }
        return literal(text);
    }

    private static Element literal(String text) {
        Matcher matcher = LITERAL.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("not a number that this reads: " + text);
        }
        String digits = matcher.group(2).replace("_", "");
        String type = matcher.group(3);
        boolean minus = matcher.group(1).equals("-");
        boolean radix = digits.startsWith("0x") || digits.startsWith("0b");
        if (!radix && (digits.contains(".") || type != null && type.startsWith("f"))) {
            return Element.fraction(type, (minus ? -1 : 1) * Double.parseDouble(digits));
        }
        long value = radix ? Long.parseUnsignedLong(digits.substring(2), digits.startsWith("0x") ? 16 : 2)
                : Long.parseUnsignedLong(digits);
        return Element.whole(type, minus ? -value : value);
    }

    private static long bits(String type, Element element) {
        double value = element.fraction();
        return switch (type) {
            case "f16" -> Float.floatToFloat16((float) value) & 0xFFFF;
            case "f32" -> Float.floatToRawIntBits((float) value);
            case "f64" -> Double.doubleToRawLongBits(value);
            default -> element.integer();
        };
    }

    int elementBytes() {
        return Integer.parseInt(type.substring(1)) / 8;
    }

    /** Returns the array in memory. */
    byte[] bytes() {
        ByteBuffer buffer = ByteBuffer.allocate(elementBytes() * values.size() + Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < values.size(); i++) {
            // Bytes past an element belong to the next, which comes after it.
            buffer.putLong(i * elementBytes(), values.get(i));
        }
        byte[] bytes = new byte[elementBytes() * values.size()];
        buffer.get(0, bytes);
        return bytes;
    }

    /** Returns whether memory holds equal numbers, as Rust compares them: both zeros are equal. */
    boolean isEqualTo(byte[] memory) {
        byte[] own = bytes();
        for (int i = 0; i < values.size(); i++) {
            long expected = element(own, i);
            long found = element(memory, i);
            boolean zeros = type.startsWith("f") && isZero(expected) && isZero(found);
            if (expected != found && !zeros) {
                return false;
            }
        }
        return memory.length == own.length;
    }

    private boolean isZero(long bits) {
        return bits << 65 - 8 * elementBytes() == 0;
    }

    private long element(byte[] memory, int place) {
        long value = 0;
        for (int i = elementBytes() - 1; i >= 0; i--) {
            value = value << 8 | memory[place * elementBytes() + i] & 0xFF;
        }
        return value;
    }
}

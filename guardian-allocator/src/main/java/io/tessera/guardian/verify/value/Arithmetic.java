package io.tessera.guardian.verify.value;

import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.verify.ModuleNames;
import io.tessera.guardian.verify.Symbol;
import io.tessera.guardian.verify.value.Value.Kind;
import java.util.List;

/** Integer instructions on intervals, and on addresses where the distance alone changes. Stateless. */
public final class Arithmetic {
    private static final long FAR = 1L << 60;
    /** Log2 of what divides the start of every window: its size may be no power of two. */
    private static final int WINDOW_ALIGN = 32;

    private Arithmetic() {
    }

    /** Returns the result of a load: zero or sign extension of the loaded value. */
    public static Value loaded(ScalarType type, int bits) {
        if (type.bits() >= bits || type.bits() > 32) {
            return Value.any(bits);
        }
        return type.kind() == ScalarType.Kind.SIGNED
                ? Value.ANY.signed(64).equals(Value.ANY) ? Value.number(-(1L << type.bits() - 1), (1L << type.bits() - 1) - 1, 0, bits)
                        : Value.any(bits)
                : Value.number(0, (1L << type.bits()) - 1, 0, bits);
    }

    /** The result of an instruction on those values, or {@code any} where nothing is known of it. */
    public static Value of(Node node, ScalarType type, List<String> words, Value[] in, Value any) {
        boolean wide = words.contains("wide");
        if ((wide ? 2 : 1) * type.bits() != node.bits || words.contains("sat") || words.contains("cc")) {
            return any;
        }
        int bits = type.bits();
        boolean signed = type.kind() == ScalarType.Kind.SIGNED;
        return switch (node.instruction.opcode()) {
            case "add" -> in.length == 2 ? add(in[0], in[1], bits) : any;
            case "sub" -> in.length == 2 ? difference(node, in, bits) : any;
            case "neg" -> sub(Value.number(0, 0, 0, bits), in[0], bits);
            case "mul", "mad" -> product(words, in, bits, signed, any, wide);
            case "shl" -> in.length == 2 && in[1].exact() && in[1].low() >= 0 && in[1].low() < 32
                    ? mul(in[0], in[1].low() >= bits ? 0 : 1L << in[1].low(), bits) : any;
            case "shr" -> shr(in, bits, signed, any);
            case "and" -> in[0].exact() ? and(in[1], in[0].low(), bits) : in[1].exact() ? and(in[0], in[1].low(), bits) : bothAnd(in, bits);
            case "or", "xor" -> either(in, bits);
            case "min" -> min(in[0], in[1], bits, signed);
            case "max" -> max(in[0], in[1], bits, signed);
            case "div" -> divide(in, bits, signed, any);
            case "rem" -> !signed && in[1].exact() && in[1].low() > 0 ? Value.number(0, in[1].low() - 1, 0, bits) : any;
            case "selp" -> Selection.of(node, in, bits);
            case "bfe" -> !signed && in[2].exact() && in[2].low() > 0 && in[2].low() < 32 ? Value.number(0, (1L << in[2].low()) - 1, 0, bits) : any;
            case "popc", "clz" -> Value.number(0, 64, 0, 32);
            default -> any;
        };
    }

    /** A number less its own low bits is that number rounded down. */
    private static Value difference(Node node, Value[] in, int bits) {
        Node rest = node.args[1].origin();
        long mask = rest.is("and") && rest.typed(bits) ? rest.numberOf(1, 0) : 0;
        boolean rounds = in[0].isNumber() && mask > 0 && (mask & mask + 1) == 0 && node.args[0].register >= 0
                && rest.args[0].origin() == node.args[0].origin();
        return rounds ? and(in[0], ~mask, bits) : sub(in[0], in[1], bits);
    }

    private static boolean moves(Value value) {
        return switch (value.kind()) {
            case WINDOW, VARIABLE, GENERIC, REPORT, HANDLES, TEXT -> true;
            default -> false;
        };
    }

    /** The sum. */
    public static Value add(Value a, Value b, int bits) {
        if (!a.isNumber() && b.isNumber() && !far(b)) {
            int align = Math.min(a.align(), b.align());
            if (moves(a)) {
                return a.at(a.low() + b.low(), a.high() + b.high(), align);
            }
            // The sum stays below its end, so it does not wrap, as long as nothing is taken away.
            boolean up = (a.is(Kind.BELOW) || a.is(Kind.GENERIC_BELOW)) && b.low() >= 0 && a.high() + b.high() <= limit(a);
            if (up) {
                return a.at(a.high() + b.high(), a.high() + b.high(), align);
            }
            return a.is(Kind.VALID) && b.low() >= 0 && b.high() <= a.high() ? a.at(0, a.high() - b.high(), align) : Value.any(bits);
        }
        if (a.isNumber() && !b.isNumber()) {
            return add(b, a, bits);
        }
        if (!a.isNumber() || far(a) || far(b)) {
            return Value.any(bits).aligned(Math.min(a.align(), b.align()));
        }
        return Value.number(a.low() + b.low(), a.high() + b.high(), Math.min(a.align(), b.align()), bits);
    }

    private static long limit(Value below) {
        return below.symbol() == Symbol.END ? 0 : below.symbol().bytes();
    }

    private static boolean far(Value value) {
        return value.low() < -FAR || value.high() > FAR;
    }

    /** The difference. */
    public static Value sub(Value a, Value b, int bits) {
        if (b.isNumber() && !far(b)) {
            return add(a, Value.of(Kind.NUMBER, -b.high(), -b.low(), b.align()), bits);
        }
        int align = Math.min(a.align(), b.align());
        return a.is(Kind.VARIABLE) && b.is(Kind.VARIABLE) && a.symbol() == b.symbol()
                ? Value.number(a.low() - b.high(), a.high() - b.low(), align, bits)
                : Value.any(bits).aligned(align);
    }

    private static Value mul(Value a, long by, int bits) {
        long most = Math.max(Math.abs(a.low()), Math.abs(a.high()));
        int align = a.isNumber() ? a.align() + Value.tz(by) : Value.tz(by);
        if (!a.isNumber() || far(a) || most != 0 && Math.abs(by) > FAR / most) {
            return Value.any(bits).aligned(align);
        }
        return Value.number(Math.min(a.low() * by, a.high() * by), Math.max(a.low() * by, a.high() * by), align, bits);
    }

    private static Value product(List<String> words, Value[] in, int bits, boolean signed, Value any, boolean wide) {
        if (!wide && !words.contains("lo") || in.length < 2) {
            return any;
        }
        Value a = !wide ? in[0] : signed ? in[0].signed(bits) : in[0].unsigned(bits);
        Value b = !wide ? in[1] : signed ? in[1].signed(bits) : in[1].unsigned(bits);
        int width = wide ? 2 * bits : bits;
        Value product = b.exact() ? mul(a, b.low(), width) : a.exact() ? mul(b, a.low(), width) : both(a, b, width);
        return in.length == 3 ? add(product, in[2], width) : product;
    }

    private static Value both(Value a, Value b, int bits) {
        int align = (a.isNumber() ? a.align() : 0) + (b.isNumber() ? b.align() : 0);
        if (!a.isNumber() || !b.isNumber() || a.low() < 0 || b.low() < 0 || a.high() > 0xFFFF_FFFFL || b.high() > Integer.MAX_VALUE) {
            return Value.any(bits).aligned(align);
        }
        return Value.number(a.low() * b.low(), a.high() * b.high(), align, bits);
    }

    private static Value shr(Value[] in, int bits, boolean signed, Value any) {
        if (in.length != 2 || !in[1].exact() || in[1].low() < 0 || in[1].low() >= bits) {
            return any;
        }
        int by = (int) in[1].low();
        Value value = signed ? in[0].signed(bits) : in[0].unsigned(bits);
        if (!signed && value.low() < 0) {
            return by == 0 ? any : Value.of(Kind.NUMBER, 0, -1L >>> by, Math.max(0, value.align() - by));
        }
        return Value.number(value.low() >> by, value.high() >> by, Math.max(0, value.align() - by), bits);
    }

    private static Value and(Value a, long mask, int bits) {
        long cut = bits == 32 ? (int) mask : mask;
        int zeros = Value.tz(cut);
        boolean floor = cut != 0 && -cut == (cut & -cut);
        if (floor) {
            return floor(a, Long.numberOfTrailingZeros(cut), bits);
        }
        Value value = a.unsigned(bits);
        long most = bits == 32 ? cut & 0xFFFF_FFFFL : cut;
        if (most < 0) {
            return Value.any(bits).aligned(Math.max(zeros, a.align()));
        }
        long high = value.low() < 0 ? most : Math.min(most, value.high());
        return Value.number(0, high, Math.max(zeros, a.isNumber() ? a.align() : 0), bits);
    }

    /** Low bits cleared, which may be more than what divides a value is followed for. */
    private static Value floor(Value a, int zeros, int bits) {
        long step = 1L << zeros;
        int align = Math.min(Value.MOST_ALIGN, Math.max(a.align(), zeros));
        if (a.align() >= zeros) {
            return a;
        }
        switch (a.kind()) {
            case NUMBER -> {
                return far(a) ? Value.any(bits).aligned(align) : Value.number(a.low() & -step, a.high() & -step, align, bits);
            }
            case VARIABLE, GENERIC -> {
                boolean regular = a.symbol() != Symbol.END && a.symbol().align() >= zeros;
                // A number that is not below zero stays so without its low bits.
                Value needed = a.symbol() == Symbol.END ? a.with(a.certain(), Math.max(a.needs(), -a.low())) : a;
                return regular ? a.at(a.low() & -step, a.high() & -step, align) : needed.at(a.low() - step + 1, a.high(), align);
            }
            case WINDOW -> {
                boolean stays = a.low() == 0 && zeros <= WINDOW_ALIGN; // then the window's start is at most what is left
                return a.at(stays ? 0 : a.low() - step + 1, a.high(), align);
            }
            case BELOW, GENERIC_BELOW -> {
                return a.at(a.high(), a.high(), align);
            }
            default -> {
                return Value.any(bits).aligned(align);
            }
        }
    }

    private static Value bothAnd(Value[] in, int bits) {
        Value a = in[0].unsigned(bits);
        Value b = in[1].unsigned(bits);
        int align = Math.max(a.align(), b.align());
        return a.low() < 0 || b.low() < 0 ? Value.any(bits).aligned(align) : Value.number(0, Math.min(a.high(), b.high()), align, bits);
    }

    private static Value either(Value[] in, int bits) {
        if (in.length != 2) {
            return Value.any(bits);
        }
        Value a = in[0].unsigned(bits);
        Value b = in[1].unsigned(bits);
        int align = Math.min(a.align(), b.align());
        if (a.low() < 0 || b.low() < 0) {
            return Value.any(bits).aligned(align);
        }
        long most = a.high() | b.high();
        long high = most == 0 ? 0 : (Long.highestOneBit(most) << 1) - 1;
        return high < 0 ? Value.any(bits) : Value.number(0, high, align, bits);
    }

    private static Value min(Value a, Value b, int bits, boolean signed) {
        if (signed) {
            Value x = a.signed(bits);
            Value y = b.signed(bits);
            return Value.number(Math.min(x.low(), y.low()), Math.min(x.high(), y.high()), Math.min(x.align(), y.align()), bits);
        }
        if (isShared(b) || isShared(a)) {
            return isShared(b) ? Selection.below(a, b, bits) : Selection.below(b, a, bits);
        }
        Value x = a.unsigned(bits);
        Value y = b.unsigned(bits);
        int align = Math.min(x.align(), y.align());
        boolean wildX = x.low() < 0;
        boolean wildY = y.low() < 0;
        if (wildX && wildY) {
            return Value.any(bits).aligned(align);
        }
        return Value.number(wildX || wildY ? 0 : Math.min(x.low(), y.low()), wildX ? y.high() : wildY ? x.high() : Math.min(x.high(), y.high()),
                align, bits);
    }

    private static boolean isShared(Value value) {
        return (value.is(Kind.VARIABLE) || value.is(Kind.BELOW)) && ModuleNames.isShared(value.symbol());
    }

    private static Value max(Value a, Value b, int bits, boolean signed) {
        Value x = signed ? a.signed(bits) : a.unsigned(bits);
        Value y = signed ? b.signed(bits) : b.unsigned(bits);
        int align = Math.min(x.align(), y.align());
        if (!signed && (x.low() < 0 || y.low() < 0)) {
            return Value.any(bits).aligned(align);
        }
        return Value.number(Math.max(x.low(), y.low()), Math.max(x.high(), y.high()), align, bits);
    }

    private static Value divide(Value[] in, int bits, boolean signed, Value any) {
        Value a = in[0].unsigned(bits);
        Value by = in[1].unsigned(bits);
        if (signed || !by.exact() || by.low() <= 0 || a.low() < 0) {
            return any;
        }
        return Value.number(a.low() / by.low(), a.high() / by.low(), 0, bits);
    }
}

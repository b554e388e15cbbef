package io.tessera.guardian.verify.value;

import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.verify.ModuleNames;
import io.tessera.guardian.verify.Reserved;
import io.tessera.guardian.verify.Symbol;
import io.tessera.guardian.verify.value.Value.Kind;

/** Choices between two values, where the fences make one of them: the lesser of an address and a limit, one of a space and of another. Stateless. */
public final class Selection {
    private static final long ROOM = 1 << 20;
    /** An address this far from a variable of shared memory, up or down, may have wrapped around. */
    public static final long ROUND = 1L << 31;

    private Selection() {
    }

    /** The lesser of two unsigned words, of which the second is an address of shared memory. */
    static Value below(Value value, Value limit, int bits) {
        int align = Math.min(value.align(), limit.align());
        if (limit.is(Kind.BELOW)) {
            return limit.at(limit.high(), limit.high(), align);
        }
        boolean end = limit.symbol() == Symbol.END;
        if (!end && limit.low() < 0 || end && limit.high() > 0) {
            return Value.any(bits).aligned(align);
        }
        boolean variable = value.is(Kind.VARIABLE) && ModuleNames.isShared(value.symbol());
        if (variable && value.symbol() == limit.symbol() && !end && value.low() >= 0 && value.high() < ROUND) {
            return limit.at(Math.min(value.low(), limit.low()), Math.min(value.high(), limit.high()), align);
        }
        // An address before the variable may lie before all memory: then it wraps to a large number, and the limit is the minimum.
        long certain = variable && value.low() >= 0 ? value.symbol().bytes() : value.certain();
        return Value.of(Kind.BELOW, limit.symbol(), limit.high(), limit.high(), align).with(certain,
                end ? limit.needs() > 0 ? limit.needs() : -limit.low() : 0);
    }

    /** Returns the selection of one of two values. */
    static Value of(Node node, Value[] in, int bits) {
        if (in.length != 3) {
            return Value.any(bits);
        }
        Value first = text(node, in[0]);
        if (first.is(Kind.TEXT) && in[1].is(Kind.TEXT)) {
            return inText(first) && inText(in[1]) ? Value.of(Kind.TEXT, 0, 0, 0) : Value.any(bits);
        }
        if (in[0].isNumber() && in[1].isNumber() || in[0].kind() == in[1].kind() && in[0].symbol() == in[1].symbol()) {
            return in[0].join(in[1], bits);
        }
        long room = Math.min(room(in[0]), room(in[1]));
        if (room <= 0 || in[0].condition() != null && in[1].condition() != null || in[0].needs() > 0 && in[1].needs() > 0) {
            return in[0].join(in[1], bits);
        }
        int align = Math.min(in[0].align(), in[1].align());
        Value valid = Value.of(Kind.VALID, 0, room, align);
        for (int arm = 0; arm < 2; arm++) {
            long missing = Math.max(0, in[arm].needs() > in[arm].certain() ? in[arm].needs() : 0);
            if (missing > 0) {
                boolean nested = in[arm].condition() != null;
                valid = valid.with(0, missing).where(nested ? in[arm].condition() : node.args[2].origin(), nested ? in[arm].unless() : arm == 1);
            } else if (in[arm].condition() != null) {
                return Value.any(bits);
            }
        }
        return valid;
    }

    /** A text that a pointer is moved into as far as it is known to go. */
    private static Value text(Node node, Value first) {
        Node sum = node.args[0].origin();
        Node less = node.args[2].origin();
        boolean form = sum.is("add") && sum.typed(64) && less.is("setp", "lt") && less.instruction.mnemonic().equals("setp.lt.u64")
                && sum.args[0].value.is(Kind.TEXT) && sum.args[1].origin() == less.args[0].origin() && less.numberOf(1, 0) > 0;
        Value start = form ? sum.args[0].value : null;
        return form && start.low() == 0 && start.high() == 0 && start.symbol() != null ? start.at(0, less.args[1].number - 1, 0) : first;
    }

    /** Returns whether a pointer to a text lies within that text, if it is known which text it is. */
    public static boolean inText(Value text) {
        return text.symbol() == null || text.low() >= 0 && text.high() < text.symbol().bytes();
    }

    /** Bytes that may be read and written from a generic address on; 0 where that is not known. */
    static long room(Value value) {
        return switch (value.kind()) {
            case WINDOW -> value.low() > -Reserved.REACH && value.high() < Reserved.REACH ? ROOM : 0;
            case GENERIC -> value.low() >= 0 && value.symbol() != Symbol.END && isWritten(value.symbol()) ? value.symbol().bytes() - value.high() : 0;
            case GENERIC_BELOW -> value.symbol() == Symbol.END ? -value.high() : value.symbol().bytes() - value.high();
            case VALID -> value.high();
            default -> 0;
        };
    }

    private static boolean isWritten(Symbol symbol) {
        return symbol.space() == StateSpace.SHARED || symbol.space() == StateSpace.LOCAL;
    }
}

package io.tessera.guardian.verify.graph;

import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.verify.Symbol;
import io.tessera.guardian.verify.value.Node;
import io.tessera.guardian.verify.value.Selection;
import io.tessera.guardian.verify.value.Value;
import io.tessera.guardian.verify.value.Value.Kind;
import java.util.List;

/** Instructions that hand bits on: moves, halves of words, conversions, generic addresses. Stateless. */
final class Moves {
    private static final int WORD = 32;

    private Moves() {
    }

    static Value of(Node node, Value[] in) {
        int bits = node.instruction.type().orElseThrow().bits();
        Value any = Value.any(node.bits);
        if (in.length == 1 && bits == node.bits) {
            if (node.args[0].kind == Node.Kind.NUMBER) {
                return Value.number(in[0].low(), in[0].high(), 0, bits);
            }
            boolean fits = node.args[0].kind == Node.Kind.SYMBOL || node.args[0].bits == bits
                    || node.args[0].kind == Node.Kind.SPECIAL && bits == WORD;
            return fits && (bits == WORD || bits == 2 * WORD) ? in[0] : any;
        }
        if (bits != 2 * WORD) {
            return any;
        }
        if (in.length == 1 && node.bits == WORD && Writers.isHalves(node.instruction)) {
            return node.index == 0 ? low(in[0]) : in[0].isNumber() && in[0].low() >= 0 && in[0].high() <= 0xFFFF_FFFFL ? Value.number(0, 0, 0, WORD)
                    : any;
        }
        if (in.length == 2 && node.bits == bits && node.args[0].bits == WORD && node.args[1].bits == WORD) {
            int align = in[0].exact() && in[0].unsigned(WORD).low() == 0 ? WORD : Math.min(WORD - 1, in[0].align());
            if (in[1].is(Kind.INSIDE)) {
                return Value.of(Kind.WINDOW, 0, 0, align);
            }
            return in[1].exact() && in[1].unsigned(WORD).low() == 0 ? in[0].unsigned(WORD) : any.aligned(align);
        }
        return any;
    }

    private static Value low(Value whole) {
        return whole.isNumber() ? Value.number(whole.low(), whole.high(), Math.min(WORD - 1, whole.align()), WORD)
                : Value.any(WORD).aligned(Math.min(WORD - 1, whole.align()));
    }

    static Value converted(Node node, Value[] in) {
        Value any = Value.any(node.bits);
        if (in.length != 1) {
            return any;
        }
        if (node.instruction.opcode().equals("cvta")) {
            return node.bits == Long.SIZE ? generic(node, in[0]) : any;
        }
        List<ScalarType> types = node.instruction.types();
        if (types.size() != 2 || node.instruction.modifiers().size() != 2 || !whole(types.get(0)) || !whole(types.get(1))) {
            return any;
        }
        ScalarType to = types.get(0);
        ScalarType from = types.get(1);
        if (to.bits() < WORD || from.bits() < WORD || to.bits() != node.bits) {
            int bits = Math.min(to.bits(), from.bits());
            boolean extends0 = to.kind() != ScalarType.Kind.SIGNED && from.kind() != ScalarType.Kind.SIGNED && bits < WORD;
            return extends0 ? Value.number(0, (1L << bits) - 1, 0, node.bits) : any;
        }
        if (!in[0].isNumber()) {
            boolean small = in[0].is(Kind.BELOW) || in[0].is(Kind.CLUSTER) || in[0].is(Kind.VARIABLE) && in[0].symbol().space() == StateSpace.SHARED
                    && (to.bits() <= from.bits() || in[0].low() >= 0 && in[0].high() < Selection.ROUND); // else it may have gone round at 32 bits
            return small && from.kind() != ScalarType.Kind.SIGNED ? in[0] : any;
        }
        Value value = from.kind() == ScalarType.Kind.SIGNED ? in[0].signed(from.bits()) : in[0].unsigned(from.bits());
        return value.low() == Long.MIN_VALUE ? any.aligned(in[0].align()) : Value.number(value.low(), value.high(), value.align(), node.bits);
    }

    private static boolean whole(ScalarType type) {
        return type.kind() == ScalarType.Kind.SIGNED || type.kind() == ScalarType.Kind.UNSIGNED;
    }

    private static Value generic(Node node, Value value) {
        Value any = Value.ANY;
        boolean to = node.instruction.has("to");
        StateSpace space = node.instruction.space().orElse(null);
        if (space == StateSpace.GLOBAL) {
            return value.is(Kind.WINDOW) || value.is(Kind.TEXT) ? value : any.aligned(0);
        }
        boolean cluster = node.instruction.has("shared::cluster");
        if (cluster && !to && value.is(Kind.CLUSTER)) {
            return value.as(Kind.VALID);
        }
        Symbol symbol = value.symbol();
        if (symbol == null || symbol.space() != space || cluster) {
            return any;
        }
        return switch (value.kind()) {
            case VARIABLE -> to ? any : value.as(Kind.GENERIC);
            case BELOW -> to ? any : value.as(Kind.GENERIC_BELOW);
            case GENERIC -> to ? value.as(Kind.VARIABLE) : any;
            case GENERIC_BELOW -> to ? value.as(Kind.BELOW) : any;
            default -> any;
        };
    }
}

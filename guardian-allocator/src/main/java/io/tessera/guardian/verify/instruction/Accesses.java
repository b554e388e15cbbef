package io.tessera.guardian.verify.instruction;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.verify.ModuleNames;
import io.tessera.guardian.verify.Reserved;
import io.tessera.guardian.verify.Symbol;
import io.tessera.guardian.verify.UnverifiedException;
import io.tessera.guardian.verify.graph.Graph;
import io.tessera.guardian.verify.graph.SharedEnd;
import io.tessera.guardian.verify.value.Node;
import io.tessera.guardian.verify.value.Value;
import io.tessera.guardian.verify.value.Value.Kind;

/** Checks that accesses of an instruction are to permitted addresses. Used for one function. */
final class Accesses {
    private final Graph graph;
    private final SharedEnd end;

    /**
     * An access.
     *
     * @param at    index of the instruction
     * @param block its block
     * @param space space of its address; null for a generic address
     * @param bytes number of bytes
     * @param align required alignment of its address
     * @param write whether it writes
     */
    record Touch(int at, int block, StateSpace space, long bytes, int align, boolean write) {
    }

    Accesses(Graph graph) {
        this.graph = graph;
        this.end = new SharedEnd(graph);
    }

    private static UnverifiedException refused(Instruction i, String why) {
        return new UnverifiedException(i.line(), i.mnemonic() + ": " + why);
    }

    /** Checks that an operand is an address at which this many bytes may be accessed. */
    void check(Touch touch, int operand) throws UnverifiedException {
        Instruction i = graph.body.code.get(touch.at());
        if (!(operand < i.operands().size() && i.operands().get(operand) instanceof Operand.Address address)) {
            throw refused(i, "has no address that is understood");
        }
        if (address.base() instanceof Operand.Immediate) {
            throw refused(i, "an address that is a number");
        }
        Node node = graph.operands[touch.at()][operand][0];
        Value first = node.value;
        while (true) {
            if (fits(node.value, address.offsetBytes(), touch, i)) {
                return;
            }
            boolean same = node.kind == Node.Kind.SELECT && node.guard == graph.guards[touch.at()] && node.negated == negated(i);
            if (node.kind != Node.Kind.SIGMA && !same) {
                throw refused(i, "its address is not shown to be in bounds and aligned (" + shown(first) + ")");
            }
            node = node.args[0];
        }
    }

    private static String shown(Value value) {
        return value.kind() + (value.symbol() == null ? "" : " " + value.symbol().name()) + " " + value.low() + ".." + value.high() + " align 2^"
                + value.align()
                + (value.needs() > value.certain() ? " needs " + value.needs() : "") + (value.condition() == null ? "" : " under a condition");
    }

    private static boolean negated(Instruction i) {
        return i.guard().isPresent() && i.guard().get().negated();
    }

    private boolean fits(Value value, long offset, Touch touch, Instruction i) {
        if (value.is(Kind.BOTTOM) || offset != (int) offset || 1L << Math.min(value.align(), Value.tz(offset)) < touch.align()) {
            return false;
        }
        boolean guarded = value.condition() == null || value.condition() == graph.guards[touch.at()] && value.unless() == negated(i);
        if (!guarded && !value.is(Kind.VALID)) {
            return false;
        }
        boolean inside = touch.space() == null ? generic(value, offset, touch) : switch (touch.space()) {
            case GLOBAL -> global(value, offset, touch);
            case SHARED -> switch (value.kind()) {
                case CLUSTER -> i.has("shared::cluster") && offset >= 0 && offset + touch.bytes() <= value.high();
                case BELOW -> below(value, offset, touch);
                default -> shared(value, offset, touch);
            };
            case LOCAL, CONST, PARAM -> variable(value, offset, touch);
            default -> false;
        };
        return inside && (value.needs() <= value.certain() || end.has(value.needs(), touch.block(), touch.at(), value.condition(), value.unless(),
                graph.guards[touch.at()], negated(i)));
    }

    private static boolean within(Value value, long offset, Touch touch, long bytes) {
        return value.low() + offset >= 0 && value.high() + offset + touch.bytes() <= bytes;
    }

    private static boolean global(Value value, long offset, Touch touch) {
        return switch (value.kind()) {
            case WINDOW -> value.low() + offset >= -Reserved.GUARD_BYTES && value.high() + offset + touch.bytes() <= Reserved.GUARD_BYTES;
            case REPORT -> within(value, offset, touch, Reserved.REPORT_BYTES);
            case STOP -> !touch.write() && within(value, offset, touch, Integer.BYTES);
            case HANDLES -> !touch.write() && value.certain() == 1 && within(value, offset, touch, Reserved.HANDLE_BYTES);
            default -> false;
        };
    }

    private static boolean below(Value value, long offset, Touch touch) {
        long bytes = value.symbol() == Symbol.END ? 0 : value.symbol().bytes();
        return offset >= 0 && value.high() + offset + touch.bytes() <= bytes;
    }

    private boolean shared(Value value, long offset, Touch touch) {
        if (!value.is(Kind.VARIABLE) || !ModuleNames.isShared(value.symbol())) {
            return false;
        }
        if (value.symbol() == Symbol.END) {
            Instruction i = graph.body.code.get(touch.at());
            return value.high() + offset + touch.bytes() <= 0 && end.has(-(value.low() + offset), touch.block(), touch.at(), null, false,
                    graph.guards[touch.at()], negated(i));
        }
        return within(value, offset, touch, value.symbol().bytes());
    }

    private static boolean variable(Value value, long offset, Touch touch) {
        return value.is(Kind.VARIABLE) && value.symbol().space() == touch.space() && within(value, offset, touch, value.symbol().bytes())
                && (!touch.write() || touch.space() == StateSpace.LOCAL || touch.space() == StateSpace.PARAM && value.symbol().written());
    }

    private boolean generic(Value value, long offset, Touch touch) {
        return switch (value.kind()) {
            case WINDOW -> global(value, offset, touch);
            case GENERIC -> {
                boolean writes = value.symbol().space() == StateSpace.SHARED || value.symbol().space() == StateSpace.LOCAL;
                yield (writes || !touch.write()) && value.symbol() != Symbol.END && within(value, offset, touch, value.symbol().bytes());
            }
            case GENERIC_BELOW -> below(value, offset, touch);
            case VALID -> offset >= 0 && offset + touch.bytes() <= value.high();
            default -> false;
        };
    }
}

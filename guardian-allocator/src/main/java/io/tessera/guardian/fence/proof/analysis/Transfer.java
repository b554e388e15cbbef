package io.tessera.guardian.fence.proof.analysis;

import io.tessera.guardian.fence.proof.graph.FlatCode;
import io.tessera.guardian.fence.proof.graph.Ssa;
import io.tessera.guardian.fence.proof.graph.SsaKind;
import io.tessera.guardian.fence.proof.value.AbstractValue;
import io.tessera.guardian.fence.proof.value.IntegerTransfer;
import io.tessera.guardian.fence.proof.value.SpecialBounds;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Variable;
import java.util.List;

/**
 * Transfer functions of instructions on {@link AbstractValue}s. An instruction that is not listed may return any value. Reads the states of an
 * analysis.
 */
public final class Transfer implements IntegerTransfer.Operands {
    private final FlatCode code;
    private final Ssa ssa;
    private final SpecialBounds special;
    private final AbstractValue[] states;

    /**
     * Over the states of values.
     *
     * @param states one for each value, null for one that is not reached; read when it is needed
     */
    Transfer(FlatCode code, Ssa ssa, SpecialBounds special, AbstractValue[] states) {
        this.code = code;
        this.ssa = ssa;
        this.special = special;
        this.states = states;
    }

    @Override
    public AbstractValue operand(int index, Operand operand, int bits) {
        return switch (operand) {
            case Operand.Immediate immediate -> AbstractValue.constant(bits == 64 ? immediate.value()
                    : immediate.value() << 64 - bits >> 64 - bits);
            case Operand.Register register -> {
                int value = ssa.use(index, register.name());
                boolean known = value != Ssa.NONE && ssa.bits(value) == bits && states[value] != null;
                yield known ? states[value] : AbstractValue.TOP;
            }
            case Operand.SpecialRegister register -> bits == 32 ? special.of(register) : AbstractValue.TOP;
            case Operand.Symbol symbol -> address(index, symbol, bits);
            default -> AbstractValue.TOP;
        };
    }

    /** A mask {@code 2^k - 1} for which {@code part} is {@code whole & mask}, or 0. */
    @Override
    public long lowBitsOf(int index, Operand whole, Operand part) {
        if (!(whole instanceof Operand.Register a) || !(part instanceof Operand.Register b)) {
            return 0;
        }
        int value = ssa.use(index, a.name());
        int masked = ssa.use(index, b.name());
        if (value == Ssa.NONE || masked == Ssa.NONE || ssa.isUnstable(value)
                || ssa.kind(ssa.origin(masked)) != SsaKind.RESULT) {
            return 0;
        }
        int made = ssa.instruction(ssa.origin(masked));
        Instruction and = code.instruction(made);
        boolean same = and.opcode().equals("and") && code.onlyResult(made) == ssa.register(masked)
                && and.operands().get(1) instanceof Operand.Register from && ssa.use(made, from.name()) != Ssa.NONE
                && ssa.origin(ssa.use(made, from.name())) == ssa.origin(value)
                && ssa.bits(masked) == ssa.bits(value);
        return same && and.operands().get(2) instanceof Operand.Immediate(long mask, boolean unsigned) && mask > 0
                && mask < 1 << 30 && (mask & mask + 1) == 0 ? mask : 0;
    }

    private AbstractValue address(int index, Operand.Symbol symbol, int bits) {
        Variable variable = code.variable(symbol.name());
        boolean whole = variable != null && (bits == 64 || bits == 32 && variable.space() == StateSpace.SHARED);
        return whole ? AbstractValue.address(variable, symbol.offsetBytes()) : AbstractValue.TOP;
    }

    /** Returns whether an operand of the instruction is not reached; then its result is not reached either. */
    private boolean unreached(int index) {
        for (int value : ssa.uses(index)) {
            if (value != Ssa.NONE && states[value] == null) {
                return true;
            }
        }
        return false;
    }

    /** Result of an instruction, in a register of this many bits; null if it is not reached. */
    AbstractValue result(int index, int value) {
        if (unreached(index)) {
            return null;
        }
        int bits = ssa.bits(value);
        Instruction instruction = code.instruction(index);
        if (bits < 16 || code.readsItsResults(index)) {
            return AbstractValue.TOP;
        }
        List<Operand> operands = instruction.operands();
        if (operands.getFirst() instanceof Operand.Vector vector) {
            return elementOf(index, instruction, vector, value, bits);
        }
        boolean single = operands.getFirst() instanceof Operand.Register && code.onlyResult(index) == ssa.register(value);
        return single ? single(index, instruction, bits).in(bits) : AbstractValue.TOP;
    }

    private AbstractValue elementOf(int index, Instruction instruction, Operand.Vector vector, int value, int bits) {
        if (instruction.opcode().equals("ld") || instruction.opcode().equals("ldu")) {
            return loaded(index, bits);
        }
        ScalarType type = instruction.type().orElse(ScalarType.B8);
        boolean unpacks = instruction.opcode().equals("mov") && vector.elements().size() == 2
                && type.bits() == 2 * bits && instruction.operands().get(1) instanceof Operand.Register;
        if (!unpacks || !(vector.elements().getFirst() instanceof Operand.Register low)
                || !low.name().equals(code.name(ssa.register(value)))
                || vector.elements().get(1).equals(low)) {
            return AbstractValue.TOP;
        }
        return operand(index, instruction.operands().get(1), type.bits()).withoutVariable().in(bits);
    }

    private AbstractValue single(int index, Instruction instruction, int bits) {
        List<ScalarType> types = code.types(index);
        ScalarType type = types.isEmpty() ? null : types.getLast();
        if (type == null || code.cutsItsResult(index)) {
            return AbstractValue.TOP;
        }
        return switch (instruction.opcode()) {
            case "ld", "ldu" -> loaded(index, bits);
            case "mov" -> type.bits() == bits ? moved(index, instruction, bits) : AbstractValue.TOP;
            case "cvta" -> bits == 64 ? converted(index, instruction) : AbstractValue.TOP;
            case "cvt" -> types.size() == 2 ? cvt(index, instruction, types.getFirst(), type, bits) : AbstractValue.TOP;
            case "selp" -> type.bits() == bits ? either(index, instruction, bits) : AbstractValue.TOP;
            case "slct" -> types.getFirst().bits() == bits ? either(index, instruction, bits) : AbstractValue.TOP;
            case "popc", "clz" -> AbstractValue.between(0, 64);
            default -> new IntegerTransfer(this, index, instruction, type, bits).result();
        };
    }

    private AbstractValue loaded(int index, int bits) {
        ScalarType type = code.types(index).isEmpty() ? null : code.types(index).getLast();
        if (type == null || type.bits() >= bits) {
            return AbstractValue.TOP;
        }
        return switch (type) {
            case U8, U16, U32 -> AbstractValue.between(0, (1L << type.bits()) - 1);
            case S8, S16, S32 -> AbstractValue.between(-(1L << type.bits() - 1), (1L << type.bits() - 1) - 1);
            default -> AbstractValue.TOP;
        };
    }

    private AbstractValue moved(int index, Instruction instruction, int bits) {
        Operand from = instruction.operands().get(1);
        if (from instanceof Operand.Vector vector) {
            boolean halves = vector.elements().size() == 2;
            return halves ? packed(operand(index, vector.elements().getFirst(), bits / 2),
                    operand(index, vector.elements().get(1), bits / 2), bits / 2) : AbstractValue.TOP;
        }
        return operand(index, from, bits);
    }

    private static AbstractValue packed(AbstractValue low, AbstractValue high, int half) {
        AbstractValue number = low.unsigned(half);
        boolean alone = high.unsigned(half).isConstant() && high.unsigned(half).low() == 0;
        return alone ? number : AbstractValue.multiple(Math.min(half - 1, number.zeros()));
    }

    private AbstractValue converted(int index, Instruction instruction) {
        AbstractValue from = operand(index, instruction.operands().get(1), 64);
        StateSpace space = instruction.space().orElse(null);
        boolean toSpace = instruction.has("to");
        if (from.variable() == null || from.variable().space() != space || from.generic() != toSpace) {
            return AbstractValue.TOP;
        }
        return new AbstractValue(from.variable(), !toSpace, from.low(), from.high(), from.zeros());
    }

    private AbstractValue cvt(int index, Instruction instruction, ScalarType to, ScalarType from, int bits) {
        Operand operand = instruction.operands().get(1);
        if (!IntegerTransfer.isInteger(to) || !IntegerTransfer.isInteger(from) || to.bits() > bits || instruction.has("pack")) {
            return AbstractValue.TOP;
        }
        int width = from.bits();
        if (operand instanceof Operand.Register register) {
            int value = ssa.use(index, register.name());
            width = value == Ssa.NONE ? 0 : ssa.bits(value);
        }
        if (width < from.bits()) {
            return AbstractValue.TOP;
        }
        AbstractValue number = operand(index, operand, width);
        if (number.variable() != null) {
            return sharedAddress(number, from, to, width, bits);
        }
        if (to.bits() > from.bits() || bits > to.bits()) {
            number = from.kind() == ScalarType.Kind.SIGNED ? number.signed(from.bits()) : number.unsigned(from.bits());
        }
        if (bits > to.bits()) {
            number = to.kind() == ScalarType.Kind.SIGNED ? number.signed(to.bits()) : number.unsigned(to.bits());
        }
        return number.in(to.bits());
    }

    /** Addresses of shared memory are less than 2^24: they survive a change between 32 and 64 bits. */
    private static AbstractValue sharedAddress(AbstractValue number, ScalarType from, ScalarType to, int width, int bits) {
        boolean shared = number.variable().space() == StateSpace.SHARED && !number.generic() && number.bounded();
        boolean narrows = width == 64 && from.bits() == 64 && to.bits() == 32 && bits == 32;
        boolean widens = width == 32 && from == ScalarType.U32 && to.bits() == 64 && number.low() >= 0
                && number.high() < 1 << 24;
        return shared && (narrows || widens) ? number : AbstractValue.TOP;
    }

    private AbstractValue either(int index, Instruction instruction, int bits) {
        return operand(index, instruction.operands().get(1), bits)
                .join(operand(index, instruction.operands().get(2), bits));
    }
}

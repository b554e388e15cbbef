package io.tessera.software.compile.flat;

import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.Opcode;
import io.tessera.software.program.RegisterClass;
import io.tessera.software.program.ValueType;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * Chooses the JVM type of each register. PTX types instructions, not registers; a register that most of its instructions treat as {@code .f32} or {@code .f64}
 * becomes a {@code float} or {@code double}, others integers of their width. Raw bits are converted where an instruction uses the other type.
 *
 * <p>A float register is <em>loose</em> if only arithmetic writes it. Then a NaN in it has any payload, and becomes the canonical one where its bits are seen
 * (stores, moves to integers); a loop that accumulates pays nothing for it.
 */
public final class RegisterKinds {
    /** JVM types of registers. */
    public enum Kind {
        INT, LONG, FLOAT, DOUBLE
    }

    private final Kind[] kinds;
    private final BitSet loose = new BitSet();

    /** Chooses the types of a kernel's registers. */
    public RegisterKinds(InlinedCode code) {
        List<RegisterClass> classes = code.registers();
        int[] floats = new int[classes.size()];
        int[] integers = new int[classes.size()];
        for (Step step : code.steps()) {
            if (step instanceof Step.Plain plain) {
                count(plain, floats, integers);
            }
        }
        kinds = new Kind[classes.size()];
        for (int slot = 0; slot < kinds.length; slot++) {
            RegisterClass registerClass = classes.get(slot);
            boolean isFloat = floats[slot] > integers[slot];
            kinds[slot] = switch (registerClass) {
                case PREDICATE, BITS16 -> Kind.INT;
                case BITS32 -> isFloat ? Kind.FLOAT : Kind.INT;
                case BITS64 -> isFloat ? Kind.DOUBLE : Kind.LONG;
                case BITS128 -> Kind.LONG;
                case null -> Kind.LONG;
            };
        }
        findLoose(code);
    }

    /** JVM type of a slot. */
    public Kind of(int slot) {
        return kinds[slot];
    }

    /** Returns whether a NaN in this float register may have any payload. */
    public boolean isLoose(int slot) {
        return loose.get(slot);
    }

    private static void count(Step.Plain step, int[] floats, int[] integers) {
        LoweredInstruction instruction = step.instruction();
        for (LoweredOperand operand : instruction.results()) {
            vote(operand, resultType(instruction), step.slotBase(), floats, integers);
        }
        for (int i = 0; i < instruction.arguments().size(); i++) {
            vote(instruction.argument(i), argumentType(instruction, i), step.slotBase(), floats, integers);
        }
    }

    private static void vote(LoweredOperand operand, ValueType type, int base, int[] floats, int[] integers) {
        if (operand instanceof LoweredOperand.Address address && address.register() != null) {
            integers[base + address.register().slot()] += 4;
        }
        if (!(operand instanceof LoweredOperand.Register register) || type == null) {
            return;
        }
        int slot = base + register.slot();
        if (type == ValueType.F32 || type == ValueType.F64) {
            floats[slot] += 2;
        } else if (type.kind() != ValueType.Kind.BITS) {
            integers[slot] += 2;
        }
    }

    /** Returns the type of the results, or null if the instruction does not determine it. */
    private static ValueType resultType(LoweredInstruction instruction) {
        return switch (instruction.opcode()) {
            case SETP, TESTP, ISSPACEP -> null;
            case MOV -> instruction.results().size() == 1 && instruction.arguments().size() == 1
                    ? instruction.type() : ValueType.U32;
            default -> instruction.types().isEmpty() ? null : instruction.type();
        };
    }

    private static ValueType argumentType(LoweredInstruction instruction, int place) {
        return switch (instruction.opcode()) {
            case SET, SETP, CVT -> place < 2 ? instruction.sourceType() : null;
            case SLCT -> place < 2 ? instruction.type() : instruction.sourceType();
            case SELP -> place < 2 ? instruction.type() : null;
            case TEX, TLD4, CALL, BRX -> null;
            // Fragments are bits, accumulators numbers.
            case MMA -> place < instruction.arguments().size() - instruction.results().size() ? ValueType.U32
                    : instruction.sourceType();
            default -> resultType(instruction);
        };
    }

    private void findLoose(InlinedCode code) {
        for (int slot = 0; slot < kinds.length; slot++) {
            loose.set(slot, kinds[slot] == Kind.FLOAT);
        }
        List<Step.Plain> writers = new ArrayList<>();
        for (Step step : code.steps()) {
            if (step instanceof Step.Plain plain && !plain.instruction().results().isEmpty()) {
                writers.add(plain);
            }
        }
        boolean changed = true;
        while (changed) {
            changed = false;
            for (Step.Plain step : writers) {
                if (!givesNumberOrAnyNan(step)) {
                    for (LoweredOperand result : step.instruction().results()) {
                        if (result instanceof LoweredOperand.Register register
                                && loose.get(step.slotBase() + register.slot())) {
                            loose.clear(step.slotBase() + register.slot());
                            changed = true;
                        }
                    }
                }
            }
        }
    }

    /** Returns whether every NaN that the step can give stands for the canonical one. */
    private boolean givesNumberOrAnyNan(Step.Plain step) {
        LoweredInstruction instruction = step.instruction();
        if (instruction.opcode() == Opcode.MOV) {
            return instruction.arguments().size() == 1 && switch (instruction.argument(0)) {
                case LoweredOperand.Immediate immediate -> !Float.isNaN(Float.intBitsToFloat((int) immediate.bits()));
                case LoweredOperand.Register register -> loose.get(step.slotBase() + register.slot());
                default -> false;
            };
        }
        return isLooseArithmetic(instruction);
    }

    /** Operations of {@code .f32} whose NaN results are canonical whatever payload the operands have. */
    public static boolean isLooseArithmetic(LoweredInstruction instruction) {
        return switch (instruction.opcode()) {
            case ADD, SUB, MUL, MAD, FMA, DIV, ABS, NEG, MIN, MAX, RCP, SQRT, RSQRT, SIN, COS, LG2, EX2, TANH, CVT ->
                instruction.type() == ValueType.F32 && !instruction.has(Modifier.XORSIGN);
            default -> false;
        };
    }
}

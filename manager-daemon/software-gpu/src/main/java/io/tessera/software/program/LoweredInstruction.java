package io.tessera.software.program;

import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * One lowered instruction.
 *
 * <p>Operands by opcode, where it is not PTX's own order: loads have one result per vector element and one argument,
 * the {@link LoweredOperand.Address}; stores and {@code red} have the address, then one argument per element; {@code atom} has
 * results, the address, then its operands; {@code setp} has one or two results ({@link LoweredOperand.Sink} allowed);
 * {@code mov} has either one result and one argument, or packs (one result, many arguments) or unpacks (many results,
 * one argument); {@code bra} has one {@link LoweredOperand.Target}; {@code brx} the index, then all targets; {@code call} the
 * callee ({@link LoweredOperand.Function}, {@link LoweredOperand.Runtime}, or a register), then the
 * {@link LoweredOperand.FrameSlot}s of its arguments, with those of its results as results; a video instruction has a, b, c (0 where it
 * has none), selectors of a, b and the result as constants, and the {@link VideoSigns} of its operands.
 *
 * @param opcode    the operation
 * @param types     the types as written, in order; empty where PTX writes none
 * @param modifiers the other words as written
 * @param space     state space of the address operand; null where there is none
 * @param results   what is written
 * @param arguments what is read
 * @param guard     predicate that must hold for the instruction to act, or null
 * @param line      line in the PTX text
 * @param spelling  opcode and modifiers as written, for messages
 */
public record LoweredInstruction(Opcode opcode, List<ValueType> types, Set<Modifier> modifiers, AddressSpace space,
        List<LoweredOperand> results, List<LoweredOperand> arguments, LoweredOperand.Register guard, int line, String spelling) {
    /** Keeps its own copies. */
    public LoweredInstruction {
        types = List.copyOf(types);
        // Asked for at every execution by the interpreter: an EnumSet answers by one bit.
        EnumSet<Modifier> words = EnumSet.noneOf(Modifier.class);
        words.addAll(modifiers);
        modifiers = Collections.unmodifiableSet(words);
        results = List.copyOf(results);
        arguments = List.copyOf(arguments);
    }

    /** Returns whether the word was written. */
    public boolean has(Modifier modifier) {
        return modifiers.contains(modifier);
    }

    /** Returns the first type: that of the operation or of the result. */
    public ValueType type() {
        return types.getFirst();
    }

    /** Returns the last type: that of the source where an instruction names two. */
    public ValueType sourceType() {
        return types.getLast();
    }

    /** Returns the first result. */
    public LoweredOperand result() {
        return results.getFirst();
    }

    /** An argument by place. */
    public LoweredOperand argument(int place) {
        return arguments.get(place);
    }

    /** Returns the address operand: the first argument of that kind. */
    public LoweredOperand.Address address() {
        for (LoweredOperand argument : arguments) {
            if (argument instanceof LoweredOperand.Address address) {
                return address;
            }
        }
        throw new IllegalStateException(spelling + " has no address");
    }

    /** Returns the first of the words that was written, or null. */
    public Modifier firstOf(Modifier... words) {
        if (!modifiers.isEmpty()) {
            for (Modifier word : words) {
                if (has(word)) {
                    return word;
                }
            }
        }
        return null;
    }

    /** Returns whether the lanes that take part are those that are here together, not those of a mask: old forms without {@code .sync}. */
    public boolean asksWhoeverIsHere() {
        return switch (opcode) {
            case ACTIVEMASK -> true;
            case VOTE, SHFL -> !has(Modifier.SYNC);
            default -> false;
        };
    }

    /** Rounding of a float result: rn, rz, rm or rp; rn where none was written. */
    public Modifier rounding() {
        Modifier written = firstOf(Modifier.RN, Modifier.RZ, Modifier.RM, Modifier.RP);
        return written == null ? Modifier.RN : written;
    }
}

package io.tessera.guardian.ptx;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * One instruction: {@code @p ld.relaxed.gpu.global.v4.f32 {...}, [%rd1+16];}. Immutable.
 *
 * @param guard     the condition under which it runs, if any
 * @param opcode    the word before the first dot: {@code ld}
 * @param modifiers the words after it, in order and without dots: {@code relaxed}, {@code gpu}, {@code global}, {@code v4}, {@code f32}; a qualified
 *                  one is one word: {@code shared::cta}, {@code L1::evict_last}
 * @param operands  in order
 * @param line      as in {@link Statement}
 */
public record Instruction(Optional<Guard> guard, String opcode, List<String> modifiers, List<Operand> operands,
        int line) implements Statement {
    /** Copies the lists. */
    public Instruction {
        modifiers = Modifiers.of(modifiers);
        operands = List.copyOf(operands);
    }

    /** Returns whether it has that modifier. */
    public boolean has(String modifier) {
        return modifiers.contains(modifier);
    }

    private Modifiers words() {
        return (Modifiers) modifiers;
    }

    /** Its types in order: of {@code cvt.rn.f32.s32}, F32 and S32. Not to be changed. */
    public List<ScalarType> types() {
        return words().types();
    }

    /** Its only or last type, which is that of the data of {@code ld}, {@code st}, {@code atom} and arithmetic. */
    public Optional<ScalarType> type() {
        return words().type();
    }

    /** The first state space among its modifiers; empty means generic where the instruction accesses memory. */
    public Optional<StateSpace> space() {
        return words().space();
    }

    /** Elements of a vector access: 2, 4 or 8 by {@code .v2}, {@code .v4}, {@code .v8}, else 1. */
    public int vectorLength() {
        return has("v2") ? 2 : has("v4") ? 4 : has("v8") ? 8 : 1;
    }

    /** Opcode with modifiers, as written: {@code ld.global.u32}. */
    public String mnemonic() {
        return opcode + words().text();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Instruction that && guard.equals(that.guard) && opcode.equals(that.opcode)
                && modifiers.equals(that.modifiers) && operands.equals(that.operands);
    }

    @Override
    public int hashCode() {
        return Objects.hash(guard, opcode, modifiers, operands);
    }
}

package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.look.LookRegisters;
import io.tessera.guardian.machine.look.LookWords;
import io.tessera.guardian.machine.look.SectionLoops;
import java.util.List;

/** The registers of a cubin's functions for looks at the stop word, and the places of their looks. Immutable. */
final class LookingFunctions {
    private final MachineFence fence;
    /** Uniform registers and predicates of functions that call each other, as bits. */
    private final long sharedUniforms;
    private final int sharedPredicates;

    LookingFunctions(MachineFence fence, List<FunctionCode> functions, long sharedUniforms) {
        this.fence = fence;
        this.sharedUniforms = sharedUniforms;
        int predicates = 0;
        for (FunctionCode function : functions) {
            if (function.flow() != null && !isAlone(function)) {
                predicates |= predicates(function.flow());
            }
        }
        this.sharedPredicates = predicates;
    }

    private static boolean isAlone(FunctionCode function) {
        return function.kernel() && !function.leaves();
    }

    private static int predicates(SectionFlow flow) {
        int used = 0;
        for (int i = 0; i < flow.count(); i++) {
            used |= LookWords.predicates(flow.operation(i), flow.high(i));
        }
        return used;
    }

    /**
     * A general register that a kernel may use and does not. What it calls may use it: nothing of it is needed behind a look. {@link InstructionWord#ZERO_REGISTER}: there is none.
     */
    static int spare(FunctionCode function) {
        return function.kernel() ? SpareRegisters.unnamed(function.flow(), function.registers()) : InstructionWord.ZERO_REGISTER;
    }

    /** The looks of a function; loops that have no place for one get none. */
    LookPlan plan(FunctionCode function) throws MachineCodeException {
        boolean alone = isAlone(function);
        int uniforms = SpareRegisters.uniforms(alone ? SpareRegisters.uniforms(function.flow()) : sharedUniforms, LookWords.UNIFORMS);
        int used = alone ? predicates(function.flow()) : sharedPredicates;
        int due = unused(used, InstructionWord.ALWAYS - 1);
        int goesOn = unused(used, due - 1);
        if (uniforms == InstructionWord.ZERO_UNIFORM || goesOn < 0) {
            return LookPlan.NONE;
        }
        LookPlan plan = new LookPlan(fence.stopAddress(), new LookRegisters(uniforms, due, goesOn));
        new SectionLoops(function.flow(), _ -> false).place(new LookPlaces(function.flow(), plan, spare(function)));
        return plan;
    }

    /** Returns the last predicate up to one that is not used; negative if there is none. */
    private static int unused(int used, int last) {
        int predicate = last;
        while (predicate >= 0 && (used >>> predicate & 1) != 0) {
            predicate--;
        }
        return predicate;
    }
}

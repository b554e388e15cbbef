package io.tessera.guardian.fence.instruction;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import java.util.List;

/**
 * Operands of a {@code call} by their roles. Immutable.
 *
 * @param returns   what is returned into
 * @param target    a function's name or a register
 * @param arguments in order
 * @param prototype name of a prototype or list of targets, or null
 */
public record CallSite(List<Operand> returns, Operand target, List<Operand> arguments, String prototype) {
    /** Reads it; the target is null where there is none. */
    public static CallSite of(Instruction call) {
        List<Operand> returns = List.of();
        List<Operand> arguments = List.of();
        Operand target = null;
        String prototype = null;
        for (Operand operand : call.operands()) {
            if (operand instanceof Operand.Arguments(List<Operand> elements)) {
                if (target == null) {
                    returns = elements;
                } else {
                    arguments = elements;
                }
            } else if (target == null) {
                target = operand;
            } else if (operand instanceof Operand.Symbol(String name, long _)) {
                prototype = name;
            }
        }
        return new CallSite(returns, target, arguments, prototype);
    }

    /** Name of the function that is called directly, or null. */
    public String function() {
        return target instanceof Operand.Symbol(String name, long _) ? name : null;
    }
}

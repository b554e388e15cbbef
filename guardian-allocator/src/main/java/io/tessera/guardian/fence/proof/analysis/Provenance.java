package io.tessera.guardian.fence.proof.analysis;

import io.tessera.guardian.fence.proof.graph.FunctionGraph;
import io.tessera.guardian.fence.proof.graph.Ssa;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.StateSpace;
import java.util.Arrays;

/**
 * Finds out whether a generic address is in global memory in every legal program: it comes from a kernel's parameter or from an address that was
 * converted from the global space. This decides only how an access is fenced, not whether: a fence forces the address into the window in any case.
 * Not thread-safe.
 */
public final class Provenance {
    /** Origin of a value; a later constant overrides an earlier one. */
    private enum Origin {
        NUMBER, GLOBAL, UNKNOWN
    }

    private final FunctionGraph of;
    private final Origin[] known;

    /** Finds the origins of a function's values. */
    public Provenance(FunctionGraph of) {
        this.of = of;
        known = new Origin[of.ssa().values()];
        settle();
    }

    /** Returns whether a value is an address of global memory, if the program is legal. */
    public boolean isGlobal(int value) {
        return known[value] == Origin.GLOBAL;
    }

    private void settle() {
        Arrays.fill(known, Origin.NUMBER);
        boolean changed = true;
        while (changed) {
            changed = false;
            for (int v = 0; v < known.length; v++) {
                Origin found = combined(known[v], find(v));
                changed |= found != known[v];
                known[v] = found;
            }
        }
    }

    private Origin find(int value) {
        return switch (of.ssa().kind(value)) {
            case UNDEFINED -> Origin.UNKNOWN;
            case REFINED, PHI, GUARDED -> joined(of.ssa().inputs(value));
            case RESULT -> result(value);
        };
    }

    private Origin joined(int[] inputs) {
        Origin all = Origin.NUMBER;
        for (int input : inputs) {
            if (input != Ssa.NONE) {
                all = combined(all, known[input]);
            }
        }
        return all;
    }

    private static Origin combined(Origin a, Origin b) {
        return a.compareTo(b) >= 0 ? a : b;
    }

    private Origin result(int value) {
        int index = of.ssa().instruction(value);
        Instruction instruction = of.code().instruction(index);
        return switch (instruction.opcode()) {
            case "ld" -> parameter(instruction, value) ? Origin.GLOBAL : Origin.UNKNOWN;
            case "cvta" -> instruction.space().orElse(null) == StateSpace.GLOBAL ? Origin.GLOBAL : Origin.UNKNOWN;
            case "add", "sub", "selp" -> operands(index, instruction, 1, 2);
            case "mov" -> operands(index, instruction, 1, 1);
            case "mad" -> operands(index, instruction, 3, 3);
            case "mul", "shl", "and", "shr" -> Origin.NUMBER;
            case "cvt" -> instruction.types().stream().allMatch(type -> type == ScalarType.U64 || type == ScalarType.S64
                    || type == ScalarType.B64) ? operands(index, instruction, 1, 1) : Origin.NUMBER;
            default -> Origin.UNKNOWN;
        };
    }

    private boolean parameter(Instruction load, int value) {
        return of.function().kind() == PtxFunction.Kind.ENTRY && load.space().orElse(null) == StateSpace.PARAM
                && of.ssa().bits(value) == 64 && load.operands().size() == 2
                && load.operands().get(1) instanceof Operand.Address(Operand.Named(String name), long ignored)
                && of.function().parameters().stream().anyMatch(each -> each.name().equals(name));
    }

    private Origin operands(int index, Instruction instruction, int first, int last) {
        Origin all = Origin.NUMBER;
        for (int i = first; i <= last; i++) {
            all = combined(all, switch (instruction.operands().get(i)) {
                case Operand.Immediate ignored -> Origin.NUMBER;
                case Operand.Register register -> {
                    int value = of.ssa().use(index, register.name());
                    yield value == Ssa.NONE ? Origin.UNKNOWN : known[value];
                }
                default -> Origin.UNKNOWN;
            });
        }
        return all;
    }
}

package io.tessera.guardian.fence.proof.graph;

import java.util.BitSet;

/**
 * Static single assignment form of a function's integer and predicate registers (Cytron et al., semi-pruned). Values are numbered. Registers that are
 * not tracked (floating point, wide registers) have no value. Immutable.
 */
public final class Ssa {
    /** No value: the register is not tracked. */
    public static final int NONE = SsaBuilder.NONE;

    private final FlatCode code;
    private final ControlFlow flow;
    private final SsaKind[] kinds;
    private final int[] places;
    private final int[] blocks;
    private final int[] registers;
    private final int[][] inputs;
    private final Condition[] conditions;
    private final int[] subjects;
    private final long[] amounts;
    private final int[][] uses;
    private final int[][] results;
    private final BitSet used;
    private final BitSet unstable;
    private final int[] origins;

    /** The values of a function. */
    static Ssa of(FlatCode code, ControlFlow flow, Dominators dominators, Work work) {
        return new Ssa(SsaBuilder.build(code, flow, dominators, work));
    }

    private Ssa(SsaBuilder built) {
        code = built.code;
        flow = built.flow;
        kinds = built.kinds.toArray(SsaKind[]::new);
        places = built.places.toArray();
        blocks = built.blocks.toArray();
        registers = built.registers.toArray();
        inputs = built.inputs.toArray(int[][]::new);
        conditions = built.conditions.toArray(Condition[]::new);
        subjects = built.subjects.toArray();
        amounts = new long[kinds.length];
        built.amounts.forEach((value, amount) -> amounts[value] = amount);
        uses = built.uses;
        results = built.results;
        used = findUsed();
        unstable = findUnstable();
        origins = findOrigins();
    }

    private BitSet findUnstable() {
        BitSet found = new BitSet(kinds.length);
        for (int v = 0; v < kinds.length; v++) {
            if (kinds[v] == SsaKind.UNDEFINED) {
                found.set(v);
            }
        }
        boolean changed = !found.isEmpty();
        while (changed) {
            changed = false;
            for (int v = 0; v < kinds.length; v++) {
                if (!found.get(v) && (anyIn(inputs[v], found) || kinds[v] == SsaKind.RESULT && anyIn(uses[places[v]], found))) {
                    found.set(v);
                    changed = true;
                }
            }
        }
        return found;
    }

    private static boolean anyIn(int[] values, BitSet set) {
        for (int value : values) {
            if (value != NONE && set.get(value)) {
                return true;
            }
        }
        return false;
    }

    /** Finds the values that instructions use, directly or through phis; an unused phi carries no information. */
    private BitSet findUsed() {
        BitSet found = new BitSet(kinds.length);
        IntArray work = new IntArray();
        for (int block : flow.order()) {
            for (int i = flow.start(block); i < flow.end(block); i++) {
                for (int value : uses[i]) {
                    mark(value, found, work);
                }
            }
        }
        while (!work.isEmpty()) {
            for (int value : inputs[work.removeLast()]) {
                mark(value, found, work);
            }
        }
        return found;
    }

    private static void mark(int value, BitSet found, IntArray work) {
        if (value >= 0 && !found.get(value)) {
            found.set(value);
            work.add(value);
        }
    }

    /** Returns the number of values. */
    public int values() {
        return kinds.length;
    }

    /** Returns the origin of a value. */
    public SsaKind kind(int value) {
        return kinds[value];
    }

    /** The instruction of a result or guarded value; of a refined one the comparison; else -1. */
    public int instruction(int value) {
        return places[value];
    }

    /** The block in which a value is made. */
    public int block(int value) {
        return blocks[value];
    }

    /** The register that a value is in. */
    public int register(int value) {
        return registers[value];
    }

    /** Width of a value's register. */
    public int bits(int value) {
        return code.type(registers[value]).bits();
    }

    /** See {@link SsaKind}; empty for the others. Not to be changed. */
    public int[] inputs(int value) {
        return inputs[value];
    }

    /** The condition of a refined value. */
    public Condition condition(int value) {
        return conditions[value];
    }

    /** The operand of the comparison that a refined value is, 1 or 2. */
    public int subject(int value) {
        return subjects[value];
    }

    /** The number that is added to a refined value to make the side that is compared. */
    public long amount(int value) {
        return amounts[value];
    }

    /** Returns whether an instruction uses it, directly or through phis. */
    public boolean isUsed(int value) {
        return used.get(value);
    }

    /** Values that an instruction reads, for {@link FlatCode#reads}. Not to be changed. */
    public int[] uses(int instruction) {
        return uses[instruction];
    }

    /** Value that an instruction reads from the register of that name, or {@link #NONE}. */
    public int use(int instruction, String register) {
        int at = code.readOf(instruction, register);
        return at < 0 || uses[instruction].length == 0 ? NONE : uses[instruction][at];
    }

    /** Values that stand in registers after an instruction, for {@link FlatCode#writes}. Not to be changed. */
    public int[] results(int instruction) {
        return results[instruction];
    }

    /** The value, passing over what only says more about the same one, and over phis of one value. */
    public int origin(int value) {
        return origins[value];
    }

    private int[] findOrigins() {
        int[] found = new int[kinds.length];
        for (int v = 0; v < found.length; v++) {
            found[v] = v;
        }
        boolean changed = true;
        while (changed) {
            changed = false;
            for (int v = 0; v < found.length; v++) {
                int same = kinds[v] == SsaKind.REFINED ? found[inputs[v][0]] : kinds[v] == SsaKind.PHI ? common(v, found) : v;
                same = found[same];
                changed |= same != found[v];
                found[v] = same;
            }
        }
        return found;
    }

    /** Returns the common origin of a phi's inputs, or the phi. */
    private int common(int phi, int[] found) {
        int same = NONE;
        for (int input : inputs[phi]) {
            int origin = input == NONE ? phi : found[input];
            if (origin != phi && origin != same) {
                if (same != NONE) {
                    return phi;
                }
                same = origin;
            }
        }
        return same == NONE ? phi : same;
    }

    /**
     * Returns whether it depends on a register that was never written. The assembler may give each read of such a register a different value, and may
     * recompute values that depend on it. A fact from a comparison then need not hold at the next use.
     */
    public boolean isUnstable(int value) {
        return unstable.get(value);
    }
}

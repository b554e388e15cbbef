package io.tessera.guardian.fence.proof.graph;

import io.tessera.guardian.fence.proof.value.IntegerTransfer;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.ScalarType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Makes {@link Ssa}. Not thread-safe. */
final class SsaBuilder {
    /** No value: the register is not tracked. */
    static final int NONE = -1;
    private static final int[] NO_VALUES = {};

    /** A refinement at the start of a block. */
    private record Refinement(int register, Condition condition, int subject, long amount) {
    }

    final FlatCode code;
    final ControlFlow flow;
    final List<SsaKind> kinds = new ArrayList<>();
    final IntArray places = new IntArray();
    final IntArray blocks = new IntArray();
    final IntArray registers = new IntArray();
    final List<int[]> inputs = new ArrayList<>();
    final List<Condition> conditions = new ArrayList<>();
    final IntArray subjects = new IntArray();
    final Map<Integer, Long> amounts = new HashMap<>();
    final int[][] uses;
    final int[][] results;

    private final Dominators dominators;
    private final Work work;
    private final boolean[] tracked;
    private final List<List<Refinement>> refinements;
    private final List<List<Condition>> holding = new ArrayList<>();
    private final int[][] phis;
    private final int[] current;
    private final int[] undefined;

    private SsaBuilder(FlatCode code, ControlFlow flow, Dominators dominators, Work work) {
        this.work = work;
        this.code = code;
        this.flow = flow;
        this.dominators = dominators;
        uses = new int[code.size()][];
        results = new int[code.size()][];
        Arrays.fill(uses, NO_VALUES);
        Arrays.fill(results, NO_VALUES);
        tracked = new boolean[code.registers()];
        for (int r = 0; r < tracked.length; r++) {
            ScalarType type = code.type(r);
            tracked[r] = type.kind() == ScalarType.Kind.PREDICATE
                    || type.kind() != ScalarType.Kind.FLOAT && type.kind() != ScalarType.Kind.OPAQUE
                            && (type.bits() == 16 || type.bits() == 32 || type.bits() == 64);
        }
        refinements = findRefinements();
        phis = new int[flow.blocks()][];
        current = new int[tracked.length];
        undefined = new int[tracked.length];
        Arrays.fill(current, NONE);
        Arrays.fill(undefined, NONE);
    }

    /** The values, before what {@link Ssa} finds out about them. */
    static SsaBuilder build(FlatCode code, ControlFlow flow, Dominators dominators, Work work) {
        SsaBuilder builder = new SsaBuilder(code, flow, dominators, work);
        builder.placePhis();
        builder.rename();
        return builder;
    }

    private List<List<Refinement>> findRefinements() {
        List<List<Refinement>> found = new ArrayList<>(flow.blocks());
        for (int block = 0; block < flow.blocks(); block++) {
            List<Refinement> here = List.of();
            holding.add(List.of());
            if (flow.predecessors(block).length == 1) {
                int from = flow.predecessors(block)[0];
                holding.set(block, Condition.on(code, flow, from, block));
                for (Condition condition : holding.get(block)) {
                    for (long[] subject : condition.subjects(code, flow.start(from), flow.end(from))) {
                        here = here.isEmpty() ? new ArrayList<>(2) : here;
                        here.add(new Refinement((int) subject[0], condition, (int) subject[1], subject[2]));
                    }
                }
            }
            found.add(here);
        }
        return found;
    }

    private void placePhis() {
        IntArray[] definedIn = new IntArray[tracked.length];
        BitSet crossing = new BitSet();
        int[] writtenIn = new int[tracked.length];
        Arrays.fill(writtenIn, -1);
        for (int block : flow.order()) {
            for (Refinement each : refinements.get(block)) {
                note(each.register(), block, writtenIn, crossing, definedIn, true);
            }
            for (int i = flow.start(block); i < flow.end(block); i++) {
                for (int register : code.reads(i)) {
                    if (writtenIn[register] != block) {
                        crossing.set(register);
                    }
                }
                boolean guarded = code.instruction(i).guard().isPresent();
                for (int register : code.writes(i)) {
                    note(register, block, writtenIn, crossing, definedIn, guarded);
                }
            }
        }
        int[][] frontiers = dominators.frontiers();
        IntArray[] placed = new IntArray[flow.blocks()];
        int[] has = new int[flow.blocks()];
        Arrays.fill(has, -1);
        for (int register = crossing.nextSetBit(0); register >= 0; register = crossing.nextSetBit(register + 1)) {
            if (tracked[register] && definedIn[register] != null) {
                place(register, definedIn[register], frontiers, placed, has);
            }
        }
        for (int block = 0; block < placed.length; block++) {
            phis[block] = placed[block] == null ? NO_VALUES : placed[block].toArray();
        }
    }

    private static void note(int register, int block, int[] writtenIn, BitSet crossing, IntArray[] definedIn,
            boolean reads) {
        if (reads && writtenIn[register] != block) {
            crossing.set(register);
        }
        if (writtenIn[register] != block) {
            writtenIn[register] = block;
            definedIn[register] = definedIn[register] == null ? new IntArray() : definedIn[register];
            definedIn[register].add(block);
        }
    }

    private void place(int register, IntArray definedIn, int[][] frontiers, IntArray[] placed, int[] has) {
        IntArray open = new IntArray();
        for (int i = 0; i < definedIn.size(); i++) {
            open.add(definedIn.get(i));
        }
        while (!open.isEmpty()) {
            for (int block : frontiers[open.removeLast()]) {
                work.spend(1);
                if (has[block] != register) {
                    has[block] = register;
                    placed[block] = placed[block] == null ? new IntArray() : placed[block];
                    placed[block].add(register);
                    work.spend(flow.predecessors(block).length);
                    open.add(block);
                }
            }
        }
    }

    private int value(SsaKind kind, int place, int block, int register, int... from) {
        kinds.add(kind);
        places.add(place);
        blocks.add(block);
        registers.add(register);
        inputs.add(from.length == 0 ? NO_VALUES : from);
        conditions.add(null);
        subjects.add(0);
        return kinds.size() - 1;
    }

    private int read(int register) {
        if (!tracked[register]) {
            return NONE;
        }
        if (current[register] != NONE) {
            return current[register];
        }
        if (undefined[register] == NONE) {
            undefined[register] = value(SsaKind.UNDEFINED, -1, flow.order()[0], register);
        }
        return undefined[register];
    }

    /** Walks the tree of dominators; what a block wrote is taken back when it is left. */
    private void rename() {
        int[][] phiValues = new int[flow.blocks()][];
        for (int block : flow.order()) {
            phiValues[block] = new int[phis[block].length];
            for (int i = 0; i < phis[block].length; i++) {
                int[] from = new int[flow.predecessors(block).length];
                Arrays.fill(from, NONE);
                phiValues[block][i] = value(SsaKind.PHI, -1, block, phis[block][i], from);
            }
        }
        IntArray stack = new IntArray();
        IntArray undo = new IntArray();
        int[] undoFrom = new int[flow.blocks()];
        int[] at = new int[flow.blocks()];
        Arrays.fill(undoFrom, -1);
        stack.add(flow.order()[0]);
        while (!stack.isEmpty()) {
            int block = stack.get(stack.size() - 1);
            if (undoFrom[block] < 0) {
                undoFrom[block] = undo.size();
                enter(block, phiValues, undo);
            }
            int[] children = dominators.children(block);
            if (at[block] < children.length) {
                stack.add(children[at[block]++]);
                continue;
            }
            while (undo.size() > undoFrom[block]) {
                int old = undo.removeLast();
                current[undo.removeLast()] = old;
            }
            stack.removeLast();
        }
    }

    private void write(int register, int value, IntArray undo) {
        undo.add(register);
        undo.add(current[register]);
        current[register] = value;
    }

    private void enter(int block, int[][] phiValues, IntArray undo) {
        for (int i = 0; i < phis[block].length; i++) {
            write(phis[block][i], phiValues[block][i], undo);
        }
        for (Refinement each : refinements.get(block)) {
            if (tracked[each.register()]) {
                int refined = value(SsaKind.REFINED, each.condition().comparison(), block, each.register(),
                        read(each.register()));
                conditions.set(refined, each.condition());
                subjects.set(refined, each.subject());
                amounts.put(refined, each.amount());
                write(each.register(), refined, undo);
            }
        }
        for (Condition condition : holding.get(block)) {
            refineSummand(condition, 1, block, undo);
            refineSummand(condition, 2, block, undo);
        }
        for (int i = flow.start(block); i < flow.end(block); i++) {
            instruction(i, block, undo);
        }
        for (int next : flow.successors(block)) {
            int[] predecessors = flow.predecessors(next);
            work.spend(predecessors.length);
            for (int p = 0; p < predecessors.length; p++) {
                for (int i = 0; predecessors[p] == block && i < phis[next].length; i++) {
                    inputs.get(phiValues[next][i])[p] = read(phis[next][i]);
                }
            }
        }
    }

    /**
     * The compared value may have been made by adding a constant in a block before: if the register that it was added to still holds the
     * same value, the comparison says something about that too. Where ways meet nothing is kept of it, so no phi is needed.
     */
    private void refineSummand(Condition condition, int operand, int block, IntArray undo) {
        Instruction setp = code.instruction(condition.comparison());
        if (!(setp.operands().get(operand) instanceof Operand.Register compared) || !IntegerTransfer.isInteger(setp.type().orElse(ScalarType.PRED))) {
            return;
        }
        int made = same(used(condition.comparison(), compared));
        int at = made == NONE || kinds.get(made) != SsaKind.RESULT ? -1 : places.get(made);
        Instruction add = at < 0 || code.onlyResult(at) != registers.get(made) ? null : code.instruction(at);
        boolean adds = add != null && add.opcode().equals("add") && add.modifiers().size() == 1 && add.guard().isEmpty()
                && add.type().map(ScalarType::bits).orElse(0) == setp.type().orElseThrow().bits();
        if (!adds || !(add.operands().get(1) instanceof Operand.Register summand)
                || !(add.operands().get(2) instanceof Operand.Immediate(long amount, boolean unsigned)) || amount != (int) amount) {
            return;
        }
        int register = code.reads(at)[code.readOf(at, summand.name())];
        boolean holds = tracked[register] && code.type(register).bits() == setp.type().get().bits()
                && current[register] != NONE && same(current[register]) == same(used(at, summand))
                && register != registers.get(made);
        if (holds) {
            int refined = value(SsaKind.REFINED, condition.comparison(), block, register, current[register]);
            conditions.set(refined, condition);
            subjects.set(refined, operand);
            amounts.put(refined, amount);
            write(register, refined, undo);
        }
    }

    private int used(int index, Operand.Register register) {
        int at = code.readOf(index, register.name());
        return at < 0 || uses[index] == null || uses[index].length == 0 ? NONE : uses[index][at];
    }

    /** The value, without what comparisons said of it. */
    private int same(int value) {
        int at = value;
        while (at != NONE && kinds.get(at) == SsaKind.REFINED) {
            work.spend(1);
            at = inputs.get(at)[0];
        }
        return at;
    }

    private void instruction(int index, int block, IntArray undo) {
        int[] read = code.reads(index);
        int[] used = read.length == 0 ? NO_VALUES : new int[read.length];
        for (int k = 0; k < read.length; k++) {
            used[k] = read(read[k]);
        }
        uses[index] = used;
        int[] written = code.writes(index);
        int[] made = written.length == 0 ? NO_VALUES : new int[written.length];
        boolean guarded = code.instruction(index).guard().isPresent();
        for (int k = 0; k < written.length; k++) {
            made[k] = NONE;
            if (tracked[written[k]]) {
                made[k] = value(SsaKind.RESULT, index, block, written[k]);
                if (guarded) {
                    made[k] = value(SsaKind.GUARDED, index, block, written[k], read(written[k]), made[k]);
                }
            }
        }
        for (int k = 0; k < written.length; k++) {
            if (made[k] != NONE) {
                write(written[k], made[k], undo);
            }
        }
        results[index] = made;
    }
}

package io.tessera.guardian.machine.look;

import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.ResultTiming;
import io.tessera.guardian.machine.code.SectionFlow;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;

/**
 * Finds out whether a branch or end in a loop depends on values that the loop loads, through memory or from other lanes. From each condition, the
 * search goes back through the blocks of the loop to the instructions that write it, and on to the operands of those ({@link SourceFields}). A call
 * of another section and the results of a barrier count as loads. The answer is yes if the search takes too long. One owner thread.
 */
final class DecidingWays {
    /** Maximum number of instructions and blocks that are visited for one loop: far more than compiled code needs. */
    private static final int MOST_STEPS = 1 << 20;
    private static final int MATRIX_REGISTERS = 128;
    private static final int CONSTANT = 4;
    private static final Set<String> LOADS = Set.of("LDS", "LDSM", "LD", "LDG", "ATOM", "ATOMG", "ATOMS", "B2R");

    private final SectionFlow flow;
    private final LoopGraph graph;
    private final BitSet blocks;
    /** Loads that tell nothing of other blocks. */
    private final IntPredicate aside;
    private final Map<Integer, List<Integer>> before = new HashMap<>();
    private final Deque<Need> open = new ArrayDeque<>();
    private final Set<Need> known = new HashSet<>();
    private final BitSet writers = new BitSet();
    private int steps;

    /** A field that is needed after an instruction. */
    private record Need(int at, int field) {
    }

    /**
     * Creates the analysis of a loop.
     *
     * @param blocks blocks of the loop and of functions of the section that it calls
     */
    DecidingWays(SectionFlow flow, LoopGraph graph, BitSet blocks, IntPredicate aside) {
        this.flow = flow;
        this.graph = graph;
        this.blocks = blocks;
        this.aside = aside;
        List<Integer> returns = blocks.stream().filter(block -> flow.operation(graph.last(block)).kind() == Kind.RETURN).boxed().toList();
        for (int block = blocks.nextSetBit(0); block >= 0; block = blocks.nextSetBit(block + 1)) {
            for (int to : graph.next(block)) {
                before.computeIfAbsent(to, _ -> new ArrayList<>()).add(block);
            }
            int last = graph.last(block);
            if (flow.operation(last).kind() == Kind.CALL && flow.following(last) != SectionFlow.NONE) {
                before.computeIfAbsent(graph.block(flow.following(last)), _ -> new ArrayList<>()).addAll(returns);
            }
        }
    }

    /** Returns whether there is such a dependence. */
    boolean dependOnLoads() {
        for (int block = blocks.nextSetBit(0); block >= 0; block = blocks.nextSetBit(block + 1)) {
            for (int i = graph.start(block); i <= graph.last(block); i++) {
                if (SourceFields.goesElsewhere(flow.operation(i))) {
                    needs(i);
                }
            }
        }
        while (!open.isEmpty()) {
            if (loads(open.remove())) {
                return true;
            }
        }
        return false;
    }

    private void needs(int at) {
        SourceFields.of(flow.operation(at), flow.low(at), flow.high(at)).forEach(field -> need(at - 1, graph.block(at), field));
    }

    private void need(int at, int block, int field) {
        if (at >= graph.start(block)) {
            add(new Need(at, field));
        } else {
            before.getOrDefault(block, List.of()).forEach(from -> add(new Need(graph.last(from), field)));
        }
    }

    private void add(Need need) {
        if (known.add(need)) {
            open.add(need);
            steps++;
        }
    }

    /** Goes back to the start of a block; whether a load is among what writes the field. */
    private boolean loads(Need need) {
        int block = graph.block(need.at);
        for (int i = need.at; i >= graph.start(block); i--) {
            steps++;
            Kind kind = flow.operation(i).kind();
            if (steps > MOST_STEPS || kind == Kind.CALL_SYMBOL || kind == Kind.CALL_REGISTER || kind == Kind.COLLECTIVE) {
                return true;
            }
            if (!writes(i, need.field)) {
                continue;
            }
            if (isLoad(i)) {
                return true;
            }
            if (!writers.get(i)) {
                writers.set(i);
                needs(i);
            }
            if (isCertain(i, need.field)) {
                return false;
            }
        }
        need(graph.start(block) - 1, block, need.field);
        return false;
    }

    private boolean isLoad(int at) {
        String name = flow.operation(at).name();
        boolean constant = name.equals("LDG") && (flow.high(at) >>> 13 & 0xf) == CONSTANT;
        return LOADS.contains(name) && !constant && !aside.test(at);
    }

    private boolean writes(int at, int field) {
        MachineOpcode operation = flow.operation(at);
        long low = flow.low(at);
        int number = SourceFields.number(field);
        return switch (SourceFields.file(field)) {
            case GENERAL -> writesGeneral(operation, low, flow.high(at), number);
            case PREDICATE -> (ResultTiming.predicates(low, flow.high(at)) >>> number & 1) != 0;
            case UNIFORM -> operation.writesUniform(low, number);
            case LOCAL_MEMORY -> operation.name().equals("STL") || operation.name().equals("ST");
            case UNIFORM_PREDICATE -> (PredicateFields.uniforms(operation, flow.high(at)) >>> number & 1) != 0;
        };
    }

    private static boolean writesGeneral(MachineOpcode operation, long low, long high, int register) {
        int first = InstructionWord.destination(low);
        int count = switch (operation.kind()) {
            case MATRIX -> MATRIX_REGISTERS;
            case CALL, REGISTER_COUNT -> 0;
            default -> Math.min(operation.registers(), ResultTiming.width(low, high));
        };
        return first != InstructionWord.ZERO_REGISTER && register >= first && register < first + count;
    }

    /**
     * Returns whether the old value is certainly overwritten; it is not by an instruction under a predicate, and not in the further registers of one
     * that may write several.
     */
    private boolean isCertain(int at, int field) {
        return InstructionWord.predicate(flow.low(at)) == InstructionWord.ALWAYS && switch (SourceFields.file(field)) {
            case GENERAL -> InstructionWord.destination(flow.low(at)) == SourceFields.number(field) && flow.operation(at).kind() != Kind.MATRIX
                    && flow.operation(at).registers() != MachineOpcode.MANY;
            case PREDICATE -> true;
            case UNIFORM -> InstructionWord.uniformDestination(flow.low(at)) == SourceFields.number(field);
            case UNIFORM_PREDICATE, LOCAL_MEMORY -> false;
        };
    }
}

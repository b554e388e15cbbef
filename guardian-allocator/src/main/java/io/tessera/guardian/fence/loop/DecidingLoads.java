package io.tessera.guardian.fence.loop;

import io.tessera.guardian.fence.instruction.Definitions;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.StateSpace;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The loads of a loop on which its branches depend: those whose results reach, through any instructions of the loop, the condition of one of its
 * branches or exits. If there are none, a thread takes the same path through the loop whatever it loads. A load from the thread's local memory
 * depends on any store to it in the loop. One owner thread.
 */
final class DecidingLoads {
    private static final Set<String> LOADS = Set.of("ld", "ldu", "atom", "ldmatrix", "suld", "multimem", "tcgen05", "call");
    /** Stands for all local memory; no register has this name. */
    private static final String LOCAL = "local memory";

    private final List<Instruction> loop;
    private final Map<String, List<Instruction>> writers = new HashMap<>();

    /**
     * Creates the analysis of a loop.
     *
     * @param loop its instructions, which contain all of its cycles
     */
    DecidingLoads(List<Instruction> loop) {
        this.loop = loop;
        for (Instruction i : loop) {
            Definitions.of(i).forEach(result -> writers.computeIfAbsent(result.name(), _ -> new ArrayList<>()).add(i));
            if (i.opcode().equals("st") && i.space().map(space -> space == StateSpace.LOCAL).orElse(true)) {
                writers.computeIfAbsent(LOCAL, _ -> new ArrayList<>()).add(i);
            }
        }
    }

    /** The loads, and calls with results, in no order; of several of a register all. */
    List<Instruction> find() {
        Set<String> needed = new HashSet<>();
        Deque<String> open = new ArrayDeque<>();
        for (Instruction i : loop) {
            if (i.opcode().startsWith("br") || i.opcode().equals("ret") || i.opcode().equals("exit")) {
                need(i, 0, needed, open);
            }
        }
        List<Instruction> loads = new ArrayList<>();
        while (!open.isEmpty()) {
            for (Instruction writer : writers.getOrDefault(open.remove(), List.of())) {
                if (writer.opcode().equals("ld") && writer.has("local")) {
                    need(LOCAL, needed, open);
                } else if (LOADS.contains(writer.opcode())) {
                    loads.add(writer);
                }
                need(writer, Definitions.of(writer).isEmpty() ? 0 : 1, needed, open);
            }
        }
        return loads;
    }

    /** Adds the registers that an instruction reads; if it has results, they are in the first operand. */
    private static void need(Instruction i, int from, Set<String> needed, Deque<String> open) {
        i.guard().ifPresent(guard -> need(guard.register().name(), needed, open));
        i.operands().subList(from, i.operands().size()).forEach(operand -> operand.registers(name -> need(name, needed, open)));
    }

    private static void need(String register, Set<String> needed, Deque<String> open) {
        if (needed.add(register)) {
            open.add(register);
        }
    }

    /** Returns whether a load has an address that is invariant in the loop. */
    boolean isAtOnePlace(Instruction load) {
        Set<String> address = new HashSet<>();
        load.operands().subList(1, load.operands().size()).forEach(operand -> operand.registers(address::add));
        return address.stream().noneMatch(writers::containsKey);
    }
}

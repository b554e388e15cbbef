package io.tessera.guardian.fence.call;

import io.tessera.guardian.fence.instruction.Definitions;
import io.tessera.guardian.fence.proof.AddressFacts;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Statement;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Finds out whether a generic address that a function makes from one of shared, local or parameter memory may reach an access that does not know its
 * space. Only then must an access of unknown space handle such an address. Used once.
 */
public final class EscapeScan {
    private final AddressFacts facts;
    private final RuntimeCalls calls;
    private final List<Instruction> flat = new ArrayList<>();
    private final Map<String, List<Instruction>> uses = new HashMap<>();
    private final Set<String> followed = new HashSet<>();

    /** Creates a scan of the body of one function, with the facts that are proved about its addresses. */
    public EscapeScan(Block body, AddressFacts facts, RuntimeCalls calls) {
        this.facts = facts;
        this.calls = calls;
        flatten(body);
    }

    private void flatten(Block block) {
        for (Statement statement : block.statements()) {
            if (statement instanceof Instruction instruction) {
                flat.add(instruction);
            }
        }
    }

    /** Returns whether an address of that space escapes. */
    public boolean escapes(StateSpace space) {
        boolean found = false;
        for (Instruction instruction : flat) {
            if (instruction.opcode().equals("cvta") && !instruction.has("to") && instruction.space().orElse(null) == space) {
                index();
                followed.clear();
                found |= !(instruction.operands().getFirst() instanceof Operand.Register result) || escapes(result, space);
            }
        }
        return found;
    }

    private void index() {
        if (!uses.isEmpty()) {
            return;
        }
        for (Instruction instruction : flat) {
            Set<String> names = new HashSet<>();
            instruction.operands().forEach(o -> collect(o, names));
            names.forEach(n -> uses.computeIfAbsent(n, k -> new ArrayList<>()).add(instruction));
        }
    }

    private static void collect(Operand operand, Set<String> into) {
        switch (operand) {
            case Operand.Register(String name) -> into.add(name);
            case Operand.Component(String name, String _) -> into.add(name);
            case Operand.Address(Operand.Register(String name), long _) -> into.add(name);
            case Operand.Vector(List<Operand> elements) -> elements.forEach(e -> collect(e, into));
            case Operand.Arguments(List<Operand> elements) -> elements.forEach(e -> collect(e, into));
            case Operand.CompoundAddress(List<Operand> parts) -> parts.forEach(e -> collect(e, into));
            case Operand.Pair(Operand first, Operand second) -> {
                collect(first, into);
                collect(second, into);
            }
            default -> {}
        }
    }

    private boolean escapes(Operand.Register first, StateSpace space) {
        Deque<Operand.Register> open = new ArrayDeque<>();
        open.add(first);
        followed.add(first.name());
        while (!open.isEmpty()) {
            Operand.Register register = open.poll();
            for (Instruction use : uses.getOrDefault(register.name(), List.of())) {
                boolean made = Definitions.writes(use, register) && use.opcode().equals("cvta");
                if (!made && escapes(use, register, space, open)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Returns whether a use lets the address escape. If the use makes another address from it, that register is added to {@code open}. */
    private boolean escapes(Instruction use, Operand.Register register, StateSpace space, Deque<Operand.Register> open) {
        switch (use.opcode()) {
            case "mov", "add", "sub" -> {
                if (!(use.operands().getFirst() instanceof Operand.Register result)) {
                    return true;
                }
                if (followed.add(result.name())) {
                    open.add(result);
                }
                return false;
            }
            case "setp" -> {
                return false;
            }
            case "cvta" -> {
                return !use.has("to");
            }
            case "ld", "st", "atom", "red" -> {
                return calls.passed(use) == null && !calls.drops(use) && !onlyAsAddress(use, register, space);
            }
            default -> {
                return true;
            }
        }
    }

    private boolean onlyAsAddress(Instruction use, Operand.Register register, StateSpace space) {
        for (int i = 0; i < use.operands().size(); i++) {
            Operand operand = use.operands().get(i);
            Set<String> names = new HashSet<>();
            collect(operand, names);
            if (names.contains(register.name())) {
                boolean proved = operand instanceof Operand.Address && facts.of(use, i).space().orElse(null) == space;
                boolean written = i == 0 && use.opcode().equals("ld");
                if (!proved && !written) {
                    return false;
                }
            }
        }
        return true;
    }
}

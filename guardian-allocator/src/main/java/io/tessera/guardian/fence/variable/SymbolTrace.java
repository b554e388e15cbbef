package io.tessera.guardian.fence.variable;

import io.tessera.guardian.fence.instruction.Definitions;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.Statement;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The variable to which a register of a function most likely points. Follows registers that are written once through moves, conversions of address
 * spaces and additions. The result is a guess: on a path that does not pass the definition, the register holds another value. Therefore code that
 * uses the guess recomputes the address, or clamps it. Not thread-safe.
 */
public final class SymbolTrace {
    private static final int DEEPEST = 32;

    /**
     * Result of a trace.
     *
     * @param symbol      the variable
     * @param offsetBytes offset from its start, if it is known
     * @param exact       whether the offset is known
     */
    public record Root(String symbol, long offsetBytes, boolean exact) {
    }

    private final Block body;
    /** Built on first use, which most functions never need. */
    private Map<String, Instruction> definitions;
    /** The known values: an addition asks for both of its operands, which would double with every step. */
    private final Map<String, Optional<Root>> known = new HashMap<>();

    /** Creates the trace for the body of one function. */
    public SymbolTrace(Block body) {
        this.body = body;
    }

    /** The only instruction that writes a register, or null. */
    Instruction definition(Operand.Register register) {
        return definition(register.name());
    }

    private Instruction definition(String register) {
        if (definitions == null) {
            definitions = new HashMap<>();
            Set<String> several = new HashSet<>();
            for (Statement statement : body.statements()) {
                if (statement instanceof Instruction instruction) {
                    define(instruction, several);
                }
            }
            several.forEach(definitions::remove);
        }
        return definitions.get(register);
    }

    private void define(Instruction instruction, Set<String> several) {
        for (Operand.Register register : Definitions.of(instruction)) {
            if (definitions.putIfAbsent(register.name(), instruction) != null) {
                several.add(register.name());
            }
        }
    }

    /** Returns the variable to which a register points, or null. */
    public Root root(Operand.Register register) {
        return root(register, DEEPEST);
    }

    /** The constant that a register holds, or null. */
    public Long constant(Operand operand) {
        if (operand instanceof Operand.Immediate(long value, boolean _)) {
            return value;
        }
        Instruction definition = operand instanceof Operand.Register(String name) ? definition(name) : null;
        return definition != null && definition.opcode().equals("mov") && definition.guard().isEmpty()
                && definition.operands().get(1) instanceof Operand.Immediate(long value, boolean _) ? value : null;
    }

    private Root root(Operand operand, int depth) {
        if (operand instanceof Operand.Symbol(String name, long offset)) {
            return new Root(name, offset, true);
        }
        if (!(operand instanceof Operand.Register(String name))) {
            return null;
        }
        Optional<Root> before = known.get(name);
        if (before == null) {
            // A request for the same name during this search is part of a cycle.
            known.put(name, Optional.empty());
            before = Optional.ofNullable(defined(definition(name), depth));
            known.put(name, before);
        }
        return before.orElse(null);
    }

    private Root defined(Instruction definition, int depth) {
        if (definition == null || depth == 0 || definition.guard().isPresent() || definition.operands().size() < 2) {
            return null;
        }
        return switch (definition.opcode()) {
            case "mov", "cvta", "cvt" -> root(definition.operands().get(1), depth - 1);
            case "add" -> sum(definition, depth);
            case "mad", "or" -> vague(root(definition.operands().getLast(), depth - 1));
            default -> null;
        };
    }

    private Root sum(Instruction add, int depth) {
        Root left = root(add.operands().get(1), depth - 1);
        Root right = root(add.operands().get(2), depth - 1);
        if (left != null && right != null) {
            return null;
        }
        Root pointer = left != null ? left : right;
        Long constant = constant(add.operands().get(left != null ? 2 : 1));
        return pointer == null ? null : constant == null ? vague(pointer)
                : new Root(pointer.symbol(), pointer.offsetBytes() + constant, pointer.exact());
    }

    private static Root vague(Root root) {
        return root == null ? null : new Root(root.symbol(), 0, false);
    }
}

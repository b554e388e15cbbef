package io.tessera.guardian.fence.variable;

import io.tessera.guardian.fence.instruction.CallSite;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Location of local variables whose addresses may reach an access that is not known to be to one of them: all lie in one variable of the kernel.
 * Device functions receive its address, and have their own part of it, after the parts of their callers. Such an access is therefore kept in bounds
 * of one variable that holds nothing but variables. Return addresses, saved registers and spilled values lie between the frames of functions, so a
 * range over several frames could not exclude them. Immutable.
 */
public final class LocalArena {
    private static final int ALIGNMENT = 16;

    private final Map<String, Map<String, Long>> places = new HashMap<>();
    private final Map<String, Long> bytes = new HashMap<>();
    private final Map<String, Set<String>> callees = new LinkedHashMap<>();
    private final boolean passed;
    private long alignment = ALIGNMENT;

    /**
     * Computes the layout.
     *
     * @param passed whether device functions get the address; false for modules that are linked
     */
    public LocalArena(PtxModule module, boolean passed) {
        this.passed = passed;
        Map<String, List<Variable>> own = new LinkedHashMap<>();
        List<PtxFunction> bodies = module.functions().stream().filter(f -> f.body().isPresent() && (passed || f.kind() == PtxFunction.Kind.ENTRY))
                .toList();
        for (PtxFunction function : bodies) {
            own.put(function.name(), taken(function.body().get()));
        }
        own.values().forEach(list -> list.forEach(variable -> alignment = Math.max(alignment, variable.alignment())));
        bodies.forEach(function -> callees.put(function.name(), passed ? callees(function, module) : Set.of()));
        Map<String, Long> starts = starts(own);
        long most = 0;
        for (PtxFunction function : bodies) {
            long at = starts.get(function.name());
            Map<String, Long> inside = new HashMap<>();
            for (Variable variable : own.get(function.name())) {
                inside.put(variable.name(), at);
                at += whole(variable);
            }
            places.put(function.name(), inside);
            bytes.put(function.name(), at);
            most = Math.max(most, at);
        }
        for (PtxFunction function : bodies) {
            // A function may touch what every kernel has that may call it.
            if (function.kind() == PtxFunction.Kind.FUNC || !callees.get(function.name()).isEmpty()) {
                bytes.put(function.name(), most);
            }
        }
    }

    /** Variables whose address is a value somewhere. */
    private static List<Variable> taken(Block body) {
        Set<String> named = new HashSet<>();
        Map<String, Variable> locals = new LinkedHashMap<>();
        for (Statement statement : body.statements()) {
            if (statement instanceof Variable variable && variable.space() == StateSpace.LOCAL) {
                locals.put(variable.name(), variable);
            } else if (statement instanceof Instruction i) {
                i.operands().forEach(operand -> names(operand, named));
            }
        }
        locals.keySet().retainAll(named);
        return List.copyOf(locals.values());
    }

    private static void names(Operand operand, Set<String> into) {
        switch (operand) {
            case Operand.Symbol(String name, long _) -> into.add(name);
            case Operand.Vector(List<Operand> elements) -> elements.forEach(each -> names(each, into));
            default -> {}
        }
    }

    /** Returns the functions of the module that a function may call; for a call through a pointer, all whose address is taken somewhere. */
    private static Set<String> callees(PtxFunction function, PtxModule module) {
        Set<String> found = new LinkedHashSet<>();
        for (Statement statement : function.body().orElseThrow().statements()) {
            if (statement instanceof Instruction i && i.opcode().equals("call")) {
                String name = CallSite.of(i).function();
                module.functions().stream()
                        .filter(f -> f.body().isPresent() && f.kind() == PtxFunction.Kind.FUNC && (name == null || f.name().equals(name)))
                        .forEach(f -> found.add(f.name()));
            }
        }
        return found;
    }

    /**
     * Returns the start of each function's part: after the parts of all its possible callers. If they are not known, no two functions share any
     * bytes.
     */
    private Map<String, Long> starts(Map<String, List<Variable>> own) {
        Map<String, Integer> callers = new HashMap<>();
        callees.values().forEach(list -> list.forEach(callee -> callers.merge(callee, 1, Integer::sum)));
        Deque<String> open = new ArrayDeque<>(own.keySet().stream().filter(name -> !callers.containsKey(name)).toList());
        Map<String, Long> starts = new HashMap<>();
        int done = 0;
        while (!open.isEmpty()) {
            String name = open.poll();
            done++;
            long end = starts.computeIfAbsent(name, k -> 0L) + own.get(name).stream().mapToLong(this::whole).sum();
            for (String callee : callees.get(name)) {
                starts.merge(callee, end, Math::max);
                if (callers.merge(callee, -1, Integer::sum) == 0) {
                    open.add(callee);
                }
            }
        }
        if (done < own.size()) {
            long at = 0;
            for (Map.Entry<String, List<Variable>> function : own.entrySet()) {
                starts.put(function.getKey(), at);
                at += function.getValue().stream().mapToLong(this::whole).sum();
            }
        }
        return starts;
    }

    private long whole(Variable variable) {
        return (variable.sizeBytes() + alignment - 1) / alignment * alignment;
    }

    /** Returns how many bytes from the start a function may access; 0 if it has no part. */
    public long bytes(PtxFunction function) {
        return bytes.getOrDefault(function.name(), 0L);
    }

    /** A function that was fenced, with its variables moved. */
    public PtxFunction moved(PtxFunction function) {
        if (bytes(function) == 0 || function.body().isEmpty()) {
            return function;
        }
        boolean kernel = function.kind() == PtxFunction.Kind.ENTRY;
        ArenaWriter writer = new ArenaWriter(places.get(function.name()), kernel);
        List<Statement> statements = writer.written(function.body().get().statements());
        if (kernel) {
            statements.addFirst(
                    new Variable(Linkage.INTERNAL, StateSpace.LOCAL, (int) alignment, ScalarType.B8, 1, ArenaWriter.NAME, List.of(bytes(function)),
                            Optional.empty(), Optional.empty(), List.of(), function.line()));
        }
        return new PtxFunction(function.kind(), function.linkage(), function.name(), function.returns(), function.parameters(), function.attributes(),
                Optional.of(new Block(statements, function.body().get().line())), function.line());
    }

    /** Returns whether device functions receive its address. */
    public boolean isPassed() {
        return passed;
    }
}

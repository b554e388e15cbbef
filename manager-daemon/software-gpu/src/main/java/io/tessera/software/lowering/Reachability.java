package io.tessera.software.lowering;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.Statement;
import io.tessera.software.program.ModuleVariable;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Functions and variables that a kernel can reach: device functions, and the module's shared variables that it names. */
final class Reachability {
    private final LoweringSymbols program;
    private final Map<String, PtxFunction> functions = new LinkedHashMap<>();
    private final Set<String> shared = new LinkedHashSet<>();
    private final Deque<PtxFunction> work = new ArrayDeque<>();
    private boolean indirect;
    private Set<String> addressTaken = Set.of();

    private Reachability(LoweringSymbols program) {
        this.program = program;
    }

    /** Follows every call from an entry. */
    static Reachability of(LoweringSymbols program, PtxFunction entry) {
        Reachability found = new Reachability(program);
        found.work.add(entry);
        found.follow();
        if (found.indirect) {
            found.addressTaken = found.addressTaken();
            found.addressTaken.forEach(name -> found.reach(program.function(name)));
            found.follow();
        }
        return found;
    }

    /** Reached device functions by name, in the order in which they were found. */
    Map<String, PtxFunction> functions() {
        return functions;
    }

    /** Names of the module's shared variables that are used. */
    Set<String> shared() {
        return shared;
    }

    /** Functions that an indirect call may reach; empty if the kernel makes none. */
    Set<String> addressable() {
        return addressTaken;
    }

    private void follow() {
        while (!work.isEmpty()) {
            visit(work.poll().body().orElseThrow().statements());
        }
    }

    private void reach(PtxFunction function) {
        if (functions.putIfAbsent(function.name(), function) == null) {
            work.add(function);
        }
    }

    private void visit(Iterable<Statement> statements) {
        for (Statement statement : statements) {
            if (statement instanceof Instruction instruction) {
                boolean call = instruction.opcode().equals("call");
                for (Operand operand : instruction.operands()) {
                    indirect |= call && operand instanceof Operand.Register;
                    name(operand);
                }
            }
        }
    }

    private void name(Operand operand) {
        switch (operand) {
            case Operand.Symbol symbol -> use(symbol.name());
            case Operand.Address(Operand.Named named, long _) -> use(named.name());
            case Operand.Vector vector -> vector.elements().forEach(this::name);
            case Operand.Arguments arguments -> arguments.elements().forEach(this::name);
            default -> {}
        }
    }

    private void use(String name) {
        if (program.sharedVariable(name) != null) {
            shared.add(name);
        }
        PtxFunction function = program.function(name);
        if (function != null) {
            reach(function);
        }
    }

    /** Every function whose address some instruction or variable of the module takes. */
    private Set<String> addressTaken() {
        Set<String> taken = new TreeSet<>();
        for (ModuleVariable variable : program.variables().values()) {
            for (ModuleVariable.Reference reference : variable.references()) {
                if (program.function(reference.symbol()) != null) {
                    taken.add(program.function(reference.symbol()).name());
                }
            }
        }
        program.bodies().forEach(function -> taken(function.body().orElseThrow().statements(), taken));
        return taken;
    }

    private void taken(Iterable<Statement> statements, Set<String> into) {
        for (Statement statement : statements) {
            if (statement instanceof Instruction instruction && !instruction.opcode().equals("call")) {
                for (Operand operand : instruction.operands()) {
                    if (operand instanceof Operand.Symbol symbol && program.function(symbol.name()) != null) {
                        into.add(program.function(symbol.name()).name());
                    }
                }
            }
        }
    }
}

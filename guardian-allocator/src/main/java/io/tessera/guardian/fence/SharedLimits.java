package io.tessera.guardian.fence;

import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.RegisterDeclaration;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Constant addresses in shared memory that fences compare with. Each is made where it is used; those that are used most are made once instead,
 * at the function's start: more of them would take registers that the program needs. Not thread-safe.
 */
final class SharedLimits {
    private static final int MOST_KEPT = 3;
    private static final int LEAST_USES = 2;

    private final Code code;
    private final Map<Operand.Symbol, Operand.Register> registers = new LinkedHashMap<>();
    private final Map<Operand.Symbol, Integer> uses = new LinkedHashMap<>();

    SharedLimits(Code code) {
        this.code = code;
    }

    /** The address of a variable, with an offset; from the function's start on, if it turns out that it is used often. */
    Operand.Register of(Operand.Symbol address) {
        Operand.Register limit = registers.computeIfAbsent(address, each -> code.word());
        uses.merge(address, 1, Integer::sum);
        code.emit("mov.u32", limit, address);
        return limit;
    }

    /** The same, made here whatever comes. */
    Operand.Register inPlace(Operand.Symbol address) {
        Operand.Register limit = code.word();
        code.emit("mov.u32", limit, address);
        return limit;
    }

    /** Moves what is used most to the function's start: leaves it out of the body that was written, which is changed. */
    void keep(PtxFunction function, Prologue prologue, List<Statement> body) {
        Set<String> named = new HashSet<>();
        for (Statement statement : function.body().orElseThrow().statements()) {
            if (statement instanceof Variable variable) {
                named.add(variable.name());
            } else if (!(statement instanceof RegisterDeclaration)) {
                break;
            }
        }
        List<Operand.Symbol> kept = uses.entrySet().stream().filter(each -> each.getValue() >= LEAST_USES && named.contains(each.getKey().name()))
                .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder())).limit(MOST_KEPT).map(Map.Entry::getKey).toList();
        if (!kept.isEmpty()) {
            prologue.write(() -> kept.forEach(address -> code.emit("mov.u32", registers.get(address), address)));
            leaveOut(body, kept.stream().<Operand>map(registers::get).collect(Collectors.toSet()));
        }
    }

    private static void leaveOut(List<Statement> statements, Set<Operand> kept) {
        List<Statement> rest = new ArrayList<>(statements.size());
        for (Statement statement : statements) {
            if (statement instanceof Block block) {
                List<Statement> inner = new ArrayList<>(block.statements());
                leaveOut(inner, kept);
                rest.add(new Block(inner, block.line()));
            } else if (!(statement instanceof Instruction made && made.opcode().equals("mov") && kept.contains(made.operands().getFirst()))) {
                rest.add(statement);
            }
        }
        statements.clear();
        statements.addAll(rest);
    }
}

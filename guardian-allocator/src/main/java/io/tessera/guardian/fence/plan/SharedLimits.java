package io.tessera.guardian.fence.plan;

import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.RegisterDeclaration;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Addresses in shared memory that fences compare with, the same in all of a kernel: made where they are used; those that are used most are
 * made once instead, at the function's start: more of them would take registers that the program needs. Not thread-safe.
 */
public final class SharedLimits {
    private static final int MOST_KEPT = 3;
    private static final int LEAST_USES = 2;

    /**
     * A limit.
     *
     * @param variable  the variable that it is counted from, or empty: from the end of the block's shared memory
     * @param offset    bytes that are added
     * @param alignment to which the sum is rounded down; that of a variable is aligned already
     */
    private record Limit(String variable, long offset, int alignment) {
    }

    private final Code code;
    private final Map<Limit, List<Operand.Register>> registers = new LinkedHashMap<>();
    private final Map<Limit, Integer> uses = new LinkedHashMap<>();

    SharedLimits(Code code) {
        this.code = code;
    }

    /** The address of a variable, with an offset, in a register. */
    public Operand.Register inVariable(String variable, long offset) {
        Limit limit = new Limit(variable, offset, 1);
        return use(limit, registers(limit), null);
    }

    /** The highest aligned address from which that many bytes are left before the end of the block's shared memory, in a register. */
    public Operand.Register beforeEnd(long bytes, int alignment, Operand.Register end) {
        Limit limit = new Limit("", -bytes, alignment);
        return use(limit, registers(limit), end);
    }

    private List<Operand.Register> registers(Limit limit) {
        uses.merge(limit, 1, Integer::sum);
        return registers.computeIfAbsent(limit, each -> List.of(code.word(), code.word()));
    }

    private Operand.Register use(Limit limit, List<Operand.Register> into, Operand.Register end) {
        Operand.Register made = into.getFirst();
        if (end == null) {
            code.emit("mov.u32", made, new Operand.Symbol(limit.variable(), limit.offset()));
            return made;
        }
        code.emit("sub.u32", made, end, Code.number(-limit.offset()));
        if (limit.alignment() > 1) {
            code.emit("and.b32", into.getLast(), made, Code.number(-limit.alignment()));
        }
        return limit.alignment() > 1 ? into.getLast() : made;
    }

    /** Moves what is used most to the function's start: leaves it out of the body that was written, which is changed. */
    public void keep(PtxFunction function, Prologue prologue, List<Statement> body) {
        if (uses.values().stream().noneMatch(times -> times >= LEAST_USES)) {
            return;
        }
        Set<String> named = new HashSet<>(Set.of(""));
        for (Statement statement : function.body().orElseThrow().statements()) {
            if (statement instanceof Variable variable) {
                named.add(variable.name());
            } else if (!(statement instanceof RegisterDeclaration)) {
                break;
            }
        }
        List<Limit> kept = uses.entrySet().stream().filter(each -> each.getValue() >= LEAST_USES && named.contains(each.getKey().variable()))
                .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder())).limit(MOST_KEPT).map(Map.Entry::getKey).toList();
        if (!kept.isEmpty()) {
            leaveOut(body, kept.stream().flatMap(each -> registers.get(each).stream()).toList());
            boolean ends = kept.stream().anyMatch(each -> each.variable().isEmpty());
            Operand.Register end = ends ? prologue.sharedEnd() : null;
            prologue.write(() -> kept.forEach(each -> use(each, registers.get(each), each.variable().isEmpty() ? end : null)));
        }
    }

    private static void leaveOut(List<Statement> statements, List<Operand.Register> kept) {
        statements.removeIf(statement -> statement instanceof Instruction made && !made.operands().isEmpty()
                && isOneOf(made.operands().getFirst(), kept));
    }

    /** Returns whether an operand is one of the registers, which no other code has redefined. */
    private static boolean isOneOf(Operand operand, List<Operand.Register> kept) {
        for (Operand.Register each : kept) {
            if (each == operand) {
                return true;
            }
        }
        return false;
    }
}

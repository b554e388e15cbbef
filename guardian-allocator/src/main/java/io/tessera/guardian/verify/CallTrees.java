package io.tessera.guardian.verify;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.Statement;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Calls without a loop may be as many as those of one: a function may make so many before another looks at the stop word, or it looks itself
 * before it calls. What a function of another module makes is not known here, so whoever calls one looks. Used once.
 */
final class CallTrees {
    /** The rewriter's {@code CallLooks} keeps to it. */
    private static final int MOST_CALLS = 4096;

    private final ModuleNames module;
    private final Set<String> looking;
    private final Map<String, Long> costs = new HashMap<>();

    /**
     * For a module.
     *
     * @param looking functions that look before their first call
     */
    CallTrees(ModuleNames module, Set<String> looking) {
        this.module = module;
        this.looking = looking;
    }

    /** Adds the functions that call too much to those that are refused. */
    void check(List<String> calleesFirst, Map<String, UnverifiedException> refused) {
        for (String name : calleesFirst) {
            PtxFunction function = module.functions.get(name);
            long sum = 1;
            for (Statement statement : function.body().orElseThrow().statements()) {
                sum += statement instanceof Instruction i && i.opcode().equals("call") ? cost(i) : 0;
            }
            boolean bounded = sum <= MOST_CALLS || looking.contains(name);
            costs.put(name, bounded && sum > MOST_CALLS ? 1 : Math.min(sum, MOST_CALLS));
            if (!bounded && function.kind() == PtxFunction.Kind.FUNC) {
                refused.putIfAbsent(name, new UnverifiedException(function.line(), "'" + name + "' may make more than " + MOST_CALLS
                        + " calls and does not look at the stop word"));
            }
        }
    }

    /** One that has no body here, or is not known yet because it calls itself, costs as much as one that may not be called without a look. */
    private long cost(Instruction call) {
        for (Operand operand : call.operands()) {
            if (operand instanceof Operand.Symbol(String name, long _)) {
                return name.equals("vprintf") ? 1 : costs.getOrDefault(Objects.requireNonNullElse(module.alias(name), name), (long) MOST_CALLS);
            }
        }
        return MOST_CALLS;
    }
}

package io.tessera.guardian.verify.loop;

import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.verify.ModuleNames;
import io.tessera.guardian.verify.UnverifiedException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * The work between two looks at the stop word, across calls. A call costs the work of its callee, unless the callee looks where it begins and
 * where it returns. No function may do more than {@link #MOST}. A device function of a module that is linked with others may do at most {@link
 * #MOST_CALLED}, unless it looks: so the cost of a call into another module is known, too. Used once.
 */
public final class CallTrees {
    /**
     * Maximum number of instructions between two looks; one that may take long counts as many ({@link AccessWork}). In the worst case they take
     * some seconds.
     */
    static final long MOST = 1L << 24;
    /** Maximum time between two looks, in nanoseconds: that of {@link #MOST} instructions of the slowest kind, in whole seconds. */
    public static final long MOST_NS = AccessWork.seconds(MOST) * 1_000_000_000L;
    /**
     * Maximum work of a function that another module may call, if it does not look at both its ends. The rewriter's {@code CallLooks} stays within
     * it.
     */
    static final long MOST_CALLED = 1L << 15;
    /** Work of printing: a thread waits for 67,000 others that print for some 0.2 s (H200). */
    private static final long PRINT = 1L << 18;
    /**
     * Maximum number of instructions of all blocks of a grid before they look, not counting the threads of a block: with 1024 threads each, this is
     * 2^48 instructions, which an H100 executes in 9.6 s, within {@link #MOST_NS}. The rewriter's {@code GridLook} stays within a quarter of it.
     */
    static final long MOST_OF_GRID = 1L << 38;
    /**
     * The part of that due to instructions that may take long: this many accesses of 1024 threads to device memory take 2 s. The rewriter stays
     * within half of it.
     */
    static final long MOST_SLOW_OF_GRID = AccessWork.ACCESS << 27;

    private final ModuleNames module;
    private final Set<String> looking;
    private final Map<String, WorkBetweenLooks> between;
    private final Map<String, Long> blocks;
    private final Map<String, Long> costs = new HashMap<>();

    /**
     * Creates the call trees of a module.
     *
     * @param looking functions that look before their first call, and before they return
     * @param between work of each function
     * @param blocks  for kernels, the number of blocks of a grid that begin without a look
     */
    public CallTrees(ModuleNames module, Set<String> looking, Map<String, WorkBetweenLooks> between, Map<String, Long> blocks) {
        this.module = module;
        this.looking = looking;
        this.between = between;
        this.blocks = blocks;
    }

    /** Adds the functions that do too much to those that are refused. */
    public void check(List<String> calleesFirst, Map<String, UnverifiedException> refused) {
        for (String name : calleesFirst) {
            PtxFunction function = module.functions.get(name);
            if (refused.containsKey(name)) {
                costs.put(name, 1L); // its callers are refused anyway
                continue;
            }
            long most = between.get(name).most(this::cost);
            boolean callable = function.kind() == PtxFunction.Kind.FUNC;
            boolean looks = callable && looking.contains(name);
            costs.put(name, looks ? 1 : most);
            if (most > MOST) {
                refused.put(name, new UnverifiedException(function.line(), "'" + name + "' may make " + most
                        + " instructions between two looks at the stop word"));
            } else if (callable && !looks && most > MOST_CALLED && module.linked()) {
                refused.put(name, new UnverifiedException(function.line(), "'" + name + "' may make " + most
                        + " instructions for another module and does not look at the stop word"));
            } else if (!callable && beginsTooMuch(name)) {
                refused.put(name, new UnverifiedException(function.line(), "'" + name + "' may make " + most
                        + " instructions in each block of a grid before the first look at the stop word"));
            }
        }
    }

    private boolean beginsTooMuch(String name) {
        long begun = blocks.get(name);
        WorkBetweenLooks work = between.get(name);
        return begun > MOST_OF_GRID || begun * work.first(false, this::cost) > MOST_OF_GRID
                || begun * work.first(true, this::cost) > MOST_SLOW_OF_GRID;
    }

    /** A function whose cost is not yet known, because it calls itself, costs too much. */
    private long cost(String name) {
        String known = Objects.requireNonNullElse(module.alias(name), name);
        PtxFunction function = module.functions.get(known);
        if (function == null || name.isEmpty()) {
            return WorkBetweenLooks.UNBOUNDED;
        }
        if (function.body().isEmpty()) {
            return name.equals("vprintf") ? PRINT : MOST_CALLED;
        }
        long cost = costs.getOrDefault(known, WorkBetweenLooks.UNBOUNDED);
        // A linker may take another module's function of that name.
        return module.linked() && function.linkage() == Linkage.WEAK ? Math.max(cost, MOST_CALLED) : cost;
    }
}

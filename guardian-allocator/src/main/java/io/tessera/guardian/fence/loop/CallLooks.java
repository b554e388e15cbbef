package io.tessera.guardian.fence.loop;

import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.ptx.Alias;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Guard;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.RegisterDeclaration;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Makes functions look at the stop word if a call of them does much work, in their callees or in loops: 48 functions, each of which calls the
 * previous one twice, never end. A function that may do more than {@link #MOST} looks when it begins and when it returns, and then costs its callers
 * nothing. The same goes for functions that are called so often that their caller would do too much work. Used for one module, in which no function
 * calls itself.
 */
public final class CallLooks {
    /** Instructions that a call may cost without a look; the verifier has twice as many. */
    private static final long MOST = 1L << 14;
    /** Maximum cost of a call into another module: the verifier's number. */
    private static final long ELSEWHERE = 1L << 15;
    /** Most work of all calls of a function between two of its own looks. */
    private static final long MOST_OF_CALLS = 1L << 20;
    /** A callee that does no more need not look, however often it is called. */
    private static final long SHORT = 16 + 4 * AccessCost.ACCESS;
    /** A thread waits for 67,000 others that print for some 0.2 s (H200). */
    private static final long PRINT = 1L << 18;
    /** Passes of a loop around calls, and of any other, between two looks: see {@code Loops}. */
    private static final long PASSES_WITH_CALLS = 17;
    private static final long PASSES = WindowConstants.GO_ON;
    /** Instructions that stand for a barrier of the cluster in the end ({@code ClusterWaits}). */
    private static final long OF_BARRIERS = 64;
    /** Maximum work of a function between two looks: the verifier's number. */
    private static final long MOST_BETWEEN_LOOKS = 1L << 23;
    private static final String PREDICATES = WindowConstants.PREFIX.replace("__", "%__") + "look_p";
    private static final String WORDS = WindowConstants.PREFIX.replace("__", "%__") + "look_r";
    private static final String PLACES = WindowConstants.PREFIX.replace("__", "%__") + "look_d";

    private final Map<String, PtxFunction> bodies = new HashMap<>();
    private final Map<String, String> aliases = new HashMap<>();
    private final Map<String, Body> calls = new HashMap<>();
    private final Map<String, Long> costs = new HashMap<>();
    private final Set<String> looking = new HashSet<>();
    private final boolean linked;

    /**
     * The work of a function itself.
     *
     * @param own   instructions, those in loops for all their passes
     * @param slow  additional cost of its accesses
     * @param once  additional cost of its accesses, each counted once
     * @param calls number of calls of each callee
     */
    private record Body(long own, long slow, long once, Map<String, Long> calls) {
    }

    /**
     * Finds them.
     *
     * @param module    for its aliases
     * @param functions as they are fenced
     * @param linked    whether what is not among them may be in another module
     */
    public CallLooks(PtxModule module, Collection<PtxFunction> functions, boolean linked) {
        this.linked = linked;
        module.directives().forEach(directive -> {
            if (directive instanceof Alias alias) {
                aliases.put(alias.name(), alias.target());
            }
        });
        functions.stream().filter(function -> function.body().isPresent()).forEach(function -> bodies.put(function.name(), function));
        bodies.values().forEach(function -> calls.put(function.name(), body(function)));
        bodies.keySet().forEach(this::find);
    }

    private Body body(PtxFunction function) {
        LoopText text = new LoopText(function.body().orElseThrow());
        Map<String, Long> found = new HashMap<>();
        long own = 0;
        long slow = 0;
        List<Instruction> flat = text.instructions();
        long[] sums = AccessCost.sums(flat);
        for (int at = 0; at < flat.size(); at++) {
            boolean once = text.depth(at) == 0;
            own += (once ? 1 : PASSES) * (flat.get(at).opcode().equals("barrier") ? OF_BARRIERS : 1);
            slow += (once ? 1 : PASSES) * (sums[at + 1] - sums[at]);
            if (flat.get(at).opcode().equals("call")) {
                found.merge(callee(flat.get(at)), once ? 1 : PASSES_WITH_CALLS, Long::sum);
            }
        }
        return new Body(own, slow, sums[flat.size()], found);
    }

    private String callee(Instruction call) {
        for (Operand operand : call.operands()) {
            if (operand instanceof Operand.Symbol(String name, long _)) {
                return aliases.getOrDefault(name, name);
            }
        }
        return "";
    }

    /** Computes the cost of a function after the cost of all its callees; chains may be long, so the method is not recursive. */
    private void find(String start) {
        List<String> way = new ArrayList<>(List.of(start));
        while (!way.isEmpty()) {
            String name = way.getLast();
            List<String> open = costs.containsKey(name) ? List.of()
                    : calls.get(name).calls().keySet().stream().filter(callee -> bodies.containsKey(callee) && !costs.containsKey(callee)).toList();
            if (open.isEmpty()) {
                if (!costs.containsKey(name)) {
                    costs.put(name, cost(name));
                }
                way.removeLast();
            }
            way.addAll(open);
        }
    }

    private long cost(String name) {
        Body body = calls.get(name);
        if (ofCalls(body) > MOST_OF_CALLS) {
            body.calls().keySet().stream().filter(callee -> bodies.containsKey(callee) && costs.getOrDefault(callee, 1L) > SHORT)
                    .forEach(this::looks);
        }
        long sum = body.own() + body.slow() + ofCalls(body);
        if (sum > MOST && bodies.get(name).kind() != PtxFunction.Kind.ENTRY) {
            looking.add(name);
            return 1;
        }
        return Math.min(sum, MOST_OF_CALLS);
    }

    private void looks(String callee) {
        looking.add(callee);
        costs.put(callee, 1L);
    }

    private long ofCalls(Body body) {
        long sum = 0;
        for (Map.Entry<String, Long> call : body.calls().entrySet()) {
            PtxFunction callee = bodies.get(call.getKey());
            boolean elsewhere = linked && !call.getKey().equals("vprintf") && (callee == null || callee.linkage() == Linkage.WEAK);
            long known = call.getKey().equals("vprintf") ? PRINT : costs.getOrDefault(call.getKey(), 1L);
            sum += call.getValue() * Math.max(elsewhere ? ELSEWHERE : 1, known);
        }
        return sum;
    }

    /**
     * Instructions that a kernel may make until its first look: no less than a quarter of what the verifier counts, which adds up loops of several counters
     * and multiplies those that it has counted itself. Twice the sum is.
     */
    public long most(String kernel) {
        Body body = calls.get(kernel);
        return body == null ? MOST_BETWEEN_LOOKS : Math.clamp(2 * (body.own() + ofCalls(body)), 1, MOST_BETWEEN_LOOKS);
    }

    /**
     * Returns an upper bound of the work of accesses and calls of a kernel until its first look, in instructions.
     *
     * @param again additional cost of accesses that are made more than once
     */
    public long slow(String kernel, long again) {
        Body body = calls.get(kernel);
        return body == null ? MOST_BETWEEN_LOOKS : body.once() + again + ofCalls(body);
    }

    /** Returns the function with looks at its beginning and returns, if it needs them. */
    public PtxFunction looking(PtxFunction function) {
        if (!looking.contains(function.name())) {
            return function;
        }
        List<Statement> statements = new ArrayList<>();
        statements.add(new RegisterDeclaration(ScalarType.PRED, PREDICATES, 1, function.line()));
        statements.add(new RegisterDeclaration(ScalarType.B32, WORDS, 1, function.line()));
        statements.add(new RegisterDeclaration(ScalarType.B64, PLACES, 1, function.line()));
        boolean begun = false;
        for (Statement statement : function.body().orElseThrow().statements()) {
            if (!begun && !(statement instanceof RegisterDeclaration) && !(statement instanceof Variable)) {
                begun = true;
                look(statements, function.line());
            }
            if (statement instanceof Instruction i && i.opcode().equals("ret")) {
                look(statements, i.line());
            }
            statements.add(statement);
        }
        return new PtxFunction(function.kind(), function.linkage(), function.name(), function.returns(), function.parameters(), function.attributes(),
                Optional.of(new Block(statements, function.body().orElseThrow().line())), function.line());
    }

    private static void look(List<Statement> statements, int line) {
        Operand.Register none = new Operand.Register(PREDICATES + "0");
        Operand.Register word = new Operand.Register(WORDS + "0");
        Operand.Register place = new Operand.Register(PLACES + "0");
        add(statements, "ld", List.of("const", "u64"), List.of(place, Code.at(new Operand.Named(WindowConstants.NAME), WindowConstants.STOP_WORD)),
                line);
        add(statements, "ld", List.of("volatile", "global", "u32"), List.of(word, Code.at(place, 0)), line);
        add(statements, "setp", List.of("lt", "s32"), List.of(none, word, Code.number(1)), line);
        statements.add(new Instruction(Optional.of(new Guard(none, false)), "exit", List.of(), List.of(), line));
    }

    private static void add(List<Statement> statements, String opcode, List<String> modifiers, List<Operand> operands, int line) {
        statements.add(new Instruction(Optional.empty(), opcode, modifiers, operands, line));
    }
}

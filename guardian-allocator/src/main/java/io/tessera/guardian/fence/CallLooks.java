package io.tessera.guardian.fence;

import io.tessera.guardian.ptx.Alias;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Guard;
import io.tessera.guardian.ptx.Instruction;
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
 * Has functions look at the stop word that make many calls without a loop: 48 functions, of which each calls the one before twice,
 * never end. A function that may make more than {@link #MOST_CALLS} calls before another one looks, or calls one of another module,
 * looks where it begins. Used for one module, in which no function calls itself.
 */
final class CallLooks {
    /** As many as passes of the smallest loop; the verifier has the number, too. */
    static final int MOST_CALLS = WindowConstants.GO_ON;
    private static final String PREDICATES = WindowConstants.PREFIX.replace("__", "%__") + "look_p";
    private static final String WORDS = WindowConstants.PREFIX.replace("__", "%__") + "look_r";
    private static final String PLACES = WindowConstants.PREFIX.replace("__", "%__") + "look_d";

    private final Map<String, PtxFunction> bodies = new HashMap<>();
    private final Map<String, String> aliases = new HashMap<>();
    private final Map<String, List<String>> calls = new HashMap<>();
    private final Map<String, Long> costs = new HashMap<>();
    private final Set<String> looking = new HashSet<>();
    private final boolean linked;

    /**
     * Finds them.
     *
     * @param module    for its aliases
     * @param functions as they are fenced
     * @param linked    whether what is not among them may be in another module
     */
    CallLooks(PtxModule module, Collection<PtxFunction> functions, boolean linked) {
        this.linked = linked;
        module.directives().forEach(directive -> {
            if (directive instanceof Alias alias) {
                aliases.put(alias.name(), alias.target());
            }
        });
        functions.stream().filter(function -> function.body().isPresent()).forEach(function -> bodies.put(function.name(), function));
        bodies.values().forEach(function -> calls.put(function.name(), calls(function)));
        bodies.keySet().forEach(this::find);
    }

    private List<String> calls(PtxFunction function) {
        List<String> found = new ArrayList<>();
        for (Statement statement : function.body().orElseThrow().statements()) {
            if (statement instanceof Instruction i && i.opcode().equals("call")) {
                for (Operand operand : i.operands()) {
                    if (operand instanceof Operand.Symbol(String name, long _)) {
                        found.add(aliases.getOrDefault(name, name));
                        break;
                    }
                }
            }
        }
        return found;
    }

    /** What a function costs once all that it calls is known; chains may be long, so this does not call itself. */
    private void find(String start) {
        List<String> way = new ArrayList<>(List.of(start));
        while (!way.isEmpty()) {
            String name = way.getLast();
            List<String> open = costs.containsKey(name) ? List.of()
                    : calls.get(name).stream().filter(callee -> bodies.containsKey(callee) && !costs.containsKey(callee)).distinct().toList();
            if (open.isEmpty()) {
                costs.computeIfAbsent(name, this::cost);
                way.removeLast();
            }
            way.addAll(open);
        }
    }

    private long cost(String name) {
        long sum = 1;
        for (String callee : calls.get(name)) {
            boolean elsewhere = linked && !bodies.containsKey(callee) && !callee.equals("vprintf");
            sum += elsewhere ? MOST_CALLS : costs.getOrDefault(callee, 1L);
        }
        if (sum <= MOST_CALLS || bodies.get(name).kind() == PtxFunction.Kind.ENTRY) {
            return sum;
        }
        looking.add(name);
        return 1;
    }

    /** The function with a look, if it is one that looks. */
    PtxFunction looking(PtxFunction function) {
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
            statements.add(statement);
        }
        return new PtxFunction(function.kind(), function.linkage(), function.name(), function.returns(), function.parameters(), function.attributes(),
                Optional.of(new Block(statements, function.body().orElseThrow().line())), function.line());
    }

    private static void look(List<Statement> statements, int line) {
        Operand.Register none = new Operand.Register(PREDICATES + "0");
        Operand.Register word = new Operand.Register(WORDS + "0");
        Operand.Register place = new Operand.Register(PLACES + "0");
        add(statements, "ld", List.of("const", "u64"), List.of(place, Code.at(new Operand.Named(WindowConstants.NAME), WindowConstants.STOP_WORD)), line);
        add(statements, "ld", List.of("volatile", "global", "u32"), List.of(word, Code.at(place, 0)), line);
        add(statements, "setp", List.of("lt", "s32"), List.of(none, word, Code.number(1)), line);
        statements.add(new Instruction(Optional.of(new Guard(none, false)), "exit", List.of(), List.of(), line));
    }

    private static void add(List<Statement> statements, String opcode, List<String> modifiers, List<Operand> operands, int line) {
        statements.add(new Instruction(Optional.empty(), opcode, modifiers, operands, line));
    }
}

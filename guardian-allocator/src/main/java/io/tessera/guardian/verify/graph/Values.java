package io.tessera.guardian.verify.graph;

import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.ModuleNames;
import io.tessera.guardian.verify.Reserved;
import io.tessera.guardian.verify.Symbol;
import io.tessera.guardian.verify.value.Arithmetic;
import io.tessera.guardian.verify.value.Clusters;
import io.tessera.guardian.verify.value.Given;
import io.tessera.guardian.verify.value.Node.Fact;
import io.tessera.guardian.verify.value.Node;
import io.tessera.guardian.verify.value.SpecialValues;
import io.tessera.guardian.verify.value.Value;
import io.tessera.guardian.verify.value.ValueRefinement;
import io.tessera.guardian.verify.value.WindowValues;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Computes the facts about each value of a function: starts with nothing, and repeats until nothing changes. A value that has changed too often
 * becomes the top element, so that the time is bounded by the number of values and their uses. Then all values are recomputed twice from the result,
 * which only makes them more exact: each is right if its arguments are. Used once.
 */
public final class Values {
    private static final int MOST_UPDATES = 4;
    /** Once a value has changed too often to be followed, its divisor is still followed up to this many changes. */
    private static final int MOST_ALIGNMENTS = MOST_UPDATES + 4;
    /**
     * A growing value is at first taken to stay below this: a counter that is compared with a small bound does not seem to overflow then.
     */
    private static final long NEAR = (1L << 20) - 1;
    private static final int SWEEPS = 2;
    private static final int MOST_BACK = 64;

    private final Graph graph;
    private final Mode mode;
    private final ModuleNames module;
    private final Given given;
    private final SpecialValues specials;
    private final ArrayDeque<Node> work = new ArrayDeque<>();

    /** Creates the computation for one function of a module. */
    public Values(Graph graph, ModuleNames module, Given given) {
        this.given = given;
        this.graph = graph;
        this.mode = module.mode();
        this.module = module;
        this.specials = new SpecialValues(graph.body.function, module.countsClusters());
    }

    /** Gives every node its value. */
    public void find() {
        for (Node node : graph.nodes) {
            push(node);
        }
        while (!work.isEmpty()) {
            Node node = work.removeFirst();
            node.queued = false;
            Value before = node.value;
            graph.work.spend(node.args.length);
            if (node.updates > MOST_ALIGNMENTS) {
                continue;
            }
            Value joined = before.join(evaluate(node), node.bits);
            if (joined.equals(before)) {
                continue;
            }
            node.updates++;
            node.value = node.updates < MOST_UPDATES ? joined : widened(node, before, joined);
            for (int i = 0; i < node.userCount; i++) {
                push(node.users[i]);
            }
        }
        narrow(Map.of());
    }

    /** Computes all values once more, from what is known of some of them in another way. */
    public void narrow(Map<Node, Value> known) {
        for (int sweep = 0; sweep < SWEEPS; sweep++) {
            for (Node node : graph.nodes) {
                Value value = known.get(node);
                node.value = value == null ? evaluate(node) : value;
            }
        }
    }

    /** Returns a wider value, which will not change much more, for a value that has changed often. */
    private static Value widened(Node node, Value before, Value joined) {
        if (node.updates > MOST_ALIGNMENTS) {
            return Value.any(node.bits);
        }
        if (node.updates > MOST_UPDATES + 1) {
            return Value.any(node.bits).aligned(joined.align());
        }
        if (!before.isNumber() || !joined.isNumber() || node.bits > 64) {
            return joined.isNumber() ? Value.any(node.bits).aligned(joined.align()) : joined;
        }
        boolean near = node.updates <= MOST_UPDATES + 1 && node.bits == Integer.SIZE && joined.high() <= NEAR;
        int align = Math.min(before.align(), joined.align());
        long low = joined.low() < before.low() ? before.low() >= 0 && joined.low() >= 0 ? 0 : Long.MIN_VALUE : joined.low();
        long high = joined.high() <= before.high() ? joined.high() : near ? NEAR : node.bits != Integer.SIZE ? Long.MAX_VALUE
                : joined.high() <= Integer.MAX_VALUE ? Integer.MAX_VALUE : 0xFFFF_FFFFL;
        long last = near && node.updates == MOST_UPDATES && high == NEAR ? last(node) : NEAR;
        return Value.number(low, last >= joined.high() ? Math.min(last, high) : high, align, node.bits);
    }

    /**
     * Up to here a value may count that is compared with a number by `!=`, as the counter of a loop with its end: it does not seem to pass
     * it then.
     */
    private static long last(Node node) {
        if (node.kind == Node.Kind.SIGMA) {
            return isEnd(node) ? node.fact.other().number - 1 : NEAR;
        }
        long last = NEAR;
        for (int i = 0; i < Math.min(node.args.length, MOST_BACK) && node.kind == Node.Kind.PHI; i++) {
            last = isEnd(node.args[i]) ? Math.min(last, node.args[i].fact.other().number - 1) : last;
        }
        for (int i = 0; i < Math.min(node.userCount, MOST_BACK) && node.kind == Node.Kind.RESULT; i++) {
            last = isEnd(node.users[i]) ? Math.min(last, node.users[i].fact.other().number) : last;
        }
        return last;
    }

    private static boolean isEnd(Node node) {
        return node.kind == Node.Kind.SIGMA && node.fact.kind() == Fact.Kind.COMPARE && node.fact.compare().equals("ne")
                && node.fact.other().kind == Node.Kind.NUMBER;
    }

    private void push(Node node) {
        if (!node.queued) {
            node.queued = true;
            work.addLast(node);
        }
    }

    private Value evaluate(Node node) {
        return switch (node.kind) {
            case NUMBER -> Value.number(node.number, node.number, 0, 64);
            case SYMBOL -> symbol(node);
            case SPECIAL -> specials.of(node.special);
            case UNKNOWN, NOT -> Value.any(node.bits);
            case PHI -> {
                Value all = Value.BOTTOM;
                for (Node arg : node.args) {
                    all = node.same != null && comesFrom(arg, node) ? all : all.join(arg.value, node.bits);
                }
                yield all;
            }
            case SELECT -> node.args[0].value.is(Value.Kind.BOTTOM) ? Value.BOTTOM : node.args[0].value.join(node.args[1].value, node.bits);
            case SIGMA -> ValueRefinement.of(unconditional(node), node.fact, node.bits);
            case RESULT -> result(node);
        };
    }

    /** Returns whether an input of a phi is the phi's own value, so that it adds no information. */
    private static boolean comesFrom(Node arg, Node phi) {
        Node node = arg;
        for (int left = MOST_BACK; left > 0 && node != phi && (node.kind == Node.Kind.SIGMA || node.same != null); left--) {
            node = node.kind == Node.Kind.SIGMA ? node.args[0] : node.same;
        }
        return node == phi;
    }

    /** Returns the facts that have no condition other than the fact's own. */
    private static Value unconditional(Node sigma) {
        Node from = sigma.args[0];
        Fact fact = sigma.fact;
        while (!fact.compares() && from.kind == Node.Kind.SIGMA && from.value.condition() != null
                && !(from.value.condition() == fact.condition() && from.value.unless() == fact.negated())) {
            from = from.args[0];
        }
        return from.value;
    }

    private static Value symbol(Node node) {
        Symbol symbol = node.symbol;
        int align = Math.min(symbol.align(), Value.tz(node.number));
        return symbol.name().startsWith(Reserved.FORMAT) ? Value.of(Value.Kind.TEXT, symbol, node.number, node.number, 0)
                : Value.of(Value.Kind.VARIABLE, symbol, node.number, node.number, align);
    }

    private Value result(Node node) {
        for (Node arg : node.args) {
            if (arg.value.is(Value.Kind.BOTTOM)) {
                return Value.BOTTOM;
            }
        }
        Value window = WindowValues.of(node, mode, module);
        Value pointer = window == null ? pointer(node) : window;
        Value cluster = pointer == null ? cluster(node) : pointer;
        return cluster != null ? cluster : transfer(node);
    }

    private Value cluster(Node node) {
        return switch (node.instruction.opcode()) {
            case "max" -> Clusters.raised(node);
            case "selp" -> module.isClustered() ? Clusters.chosen(node) : null;
            case "min" -> {
                Value least = transfer(node);
                yield module.isClustered() && least.is(Value.Kind.BELOW) ? least.as(Value.Kind.CUT) : null;
            }
            default -> null;
        };
    }

    /** A parameter that all callers fill with the address of local memory. */
    private Value pointer(Node node) {
        boolean whole = node.is("ld", "param") && node.instruction.mnemonic().equals("ld.param.b64") && node.instruction.operands().size() == 2
                && node.instruction.operands().get(1) instanceof Operand.Address(Operand.Named _, long offset) && offset == 0;
        Symbol to = whole ? given.of(graph.body.function, ((Operand.Named) ((Operand.Address) node.instruction.operands().get(1)).base()).name())
                : null;
        return to == null ? null : Value.of(Value.Kind.VARIABLE, to, 0, 0, to.align());
    }

    private static Value transfer(Node node) {
        Value any = Value.any(node.bits);
        List<String> words = node.instruction.modifiers();
        ScalarType type = node.instruction.type().orElse(null);
        if (type == null) {
            return any;
        }
        boolean integer = switch (type.kind()) {
            case BITS, SIGNED, UNSIGNED -> !type.ptx().endsWith("x2");
            default -> false;
        };
        if (!integer) {
            return any;
        }
        Value[] in = new Value[node.args.length];
        for (int i = 0; i < in.length; i++) {
            in[i] = node.args[i].value;
        }
        Value found = switch (node.instruction.opcode()) {
            case "ld" -> Arithmetic.loaded(type, node.bits);
            case "mov" -> Moves.of(node, in);
            case "cvt", "cvta" -> Moves.converted(node, in);
            case "isspacep", "setp" -> any;
            default -> type.bits() > 64 ? any : Arithmetic.of(node, type, words, in, any);
        };
        // A value made of an address whose alignment holds under a condition has the condition, or not the alignment.
        return found.isNumber() && found.align() > 0 && Arrays.stream(in).anyMatch(Value::isConditional) ? any : found;
    }
}

package io.tessera.guardian.verify;

import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.ScalarType;
import java.util.ArrayDeque;
import java.util.List;

/**
 * Finds what is known of each value of a function: starts with nothing, and goes on until nothing changes. A value that has changed too often becomes
 * anything, so that the time is bounded by the number of values and their uses; then all are computed twice more from what was found, which only
 * makes them more exact: each is right as long as its arguments are. Used once.
 */
final class Values {
    private static final int MOST_UPDATES = 4;
    private static final int SWEEPS = 2;

    private final Graph graph;
    private final Mode mode;
    private final ModuleNames module;
    private final Given given;
    private final ArrayDeque<Node> work = new ArrayDeque<>();

    Values(Graph graph, ModuleNames module, Given given) {
        this.given = given;
        this.graph = graph;
        this.mode = module.mode();
        this.module = module;
    }

    void find() {
        for (Node node : graph.nodes) {
            push(node);
        }
        while (!work.isEmpty()) {
            Node node = work.removeFirst();
            node.queued = false;
            Value before = node.value;
            graph.work.spend(node.args.length);
            if (node.updates > MOST_UPDATES) {
                continue;
            }
            Value now = evaluate(node);
            if (now.equals(before)) {
                continue;
            }
            node.updates++;
            Value joined = before.join(now, node.bits);
            node.value = node.updates > MOST_UPDATES ? Value.any(node.bits) : node.updates == MOST_UPDATES ? widened(node, before, joined) : joined;
            for (int i = 0; i < node.userCount; i++) {
                push(node.users[i]);
            }
        }
        for (int sweep = 0; sweep < SWEEPS; sweep++) {
            for (Node node : graph.nodes) {
                node.value = evaluate(node);
            }
        }
    }

    private static Value widened(Node node, Value before, Value joined) {
        if (!before.isNumber() || !joined.isNumber() || node.bits > 64) {
            return joined.isNumber() ? Value.any(node.bits) : joined;
        }
        int align = Math.min(before.align(), joined.align());
        long low = joined.low() < before.low() ? before.low() >= 0 && joined.low() >= 0 ? 0 : Long.MIN_VALUE : joined.low();
        long high = joined.high() > before.high() ? node.bits == 32 ? joined.high() <= Integer.MAX_VALUE ? Integer.MAX_VALUE : 0xFFFF_FFFFL : Long.MAX_VALUE
                : joined.high();
        return Value.number(low, high, align, node.bits);
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
            case SPECIAL -> SpecialValues.of(node.special);
            case UNKNOWN, NOT -> Value.any(node.bits);
            case PHI -> {
                Value all = Value.BOTTOM;
                for (Node arg : node.args) {
                    all = all.join(arg.value, node.bits);
                }
                yield all;
            }
            case SELECT -> node.args[0].value.is(Value.Kind.BOTTOM) ? Value.BOTTOM : node.args[0].value.join(node.args[1].value, node.bits);
            case SIGMA -> Refinement.of(unconditional(node), node.fact, node.bits);
            case RESULT -> result(node);
        };
    }

    /** What is known without another condition than the fact's own. */
    private static Value unconditional(Node sigma) {
        Node from = sigma.args[0];
        Fact fact = sigma.fact;
        while (fact.kind() != Fact.Kind.COMPARE && from.kind == Node.Kind.SIGMA && from.value.condition() != null
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
        Symbol to = whole ? given.of(graph.body.function, ((Operand.Named) ((Operand.Address) node.instruction.operands().get(1)).base()).name()) : null;
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
        return switch (node.instruction.opcode()) {
            case "ld" -> Arithmetic.loaded(type, node.bits);
            case "mov" -> Moves.of(node, in);
            case "cvt", "cvta" -> Moves.converted(node, in);
            case "isspacep", "setp" -> any;
            default -> type.bits() > 64 ? any : Arithmetic.of(node, type, words, in, any);
        };
    }
}

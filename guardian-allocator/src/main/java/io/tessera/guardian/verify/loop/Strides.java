package io.tessera.guardian.verify.loop;

import io.tessera.guardian.verify.UnverifiedException;
import io.tessera.guardian.verify.flow.FlowEdge;
import io.tessera.guardian.verify.graph.Graph;
import io.tessera.guardian.verify.value.Arithmetic;
import io.tessera.guardian.verify.value.Node;
import io.tessera.guardian.verify.value.Value;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Ranges of addresses, in the window and in variables, that a counted loop advances by a stride. If the value that the loop carries to its head is the
 * head's value plus an amount, the address advances once per iteration, since the head's value stays the same until the next one. Also computes the
 * range of a loop's counter. Stateless.
 */
public final class Strides {
    private static final int LONGEST_CHAIN = 16;
    private static final long FARTHEST = 1L << 60;

    private Strides() {
    }

    /** Returns the ranges of such addresses, which are narrower than those computed without iteration counts. */
    public static Map<Node, Value> of(Graph graph, List<LoopCheck.Counted> loops) throws UnverifiedException {
        Map<Node, Value> found = new HashMap<>();
        Map<Integer, List<LoopCheck.Counted>> heads = loops.stream().collect(Collectors.groupingBy(LoopCheck.Counted::head));
        if (heads.isEmpty()) {
            return found;
        }
        graph.work.spend(graph.nodes.size());
        for (Node node : graph.nodes) {
            if (node.kind == Node.Kind.PHI && (node.bits == Long.SIZE || node.bits == Integer.SIZE)) {
                for (LoopCheck.Counted loop : heads.getOrDefault(node.trace, List.of())) {
                    Value value = node == loop.counter() ? loop.numbers() : moved(node, graph.flow.in.get(loop.head()), loop);
                    if (value != null) {
                        found.put(node, value);
                    }
                }
            }
        }
        return found;
    }

    private static Value moved(Node phi, List<FlowEdge> in, LoopCheck.Counted loop) {
        Value first = Value.BOTTOM;
        Value step = Value.number(0, 0, 0, phi.bits);
        for (int n = 0; n < phi.args.length; n++) {
            if (n < in.size() && loop.passes().contains(in.get(n))) {
                Value gain = gain(phi.args[n], phi);
                if (gain == null) {
                    return null;
                }
                step = step.join(gain, phi.bits);
            } else {
                first = first.join(phi.args[n].value, phi.bits);
            }
        }
        long times = Math.max(1, loop.rounds());
        boolean near = step.low() >= -FARTHEST / times && step.high() <= FARTHEST / times;
        boolean address = first.is(Value.Kind.WINDOW) || first.is(Value.Kind.VARIABLE);
        return address && !first.isConditional() && near ? first.moved(step, loop.rounds()) : null;
    }

    /** Returns the sum of the amounts that are added to the phi to give the node, or null if the node is not such a sum. */
    private static Value gain(Node node, Node phi) {
        int bits = phi.bits;
        Value sum = Value.number(0, 0, 0, bits);
        Node at = LoopCheck.copied(node);
        for (int left = LONGEST_CHAIN; left > 0 && at != phi; left--) {
            boolean adds = at.is("add");
            if (!adds && !at.is("sub") || !at.typed(bits) || at.instruction.modifiers().size() != 1 || at.args.length != 2
                    || !at.args[1].value.isNumber()) {
                return null;
            }
            Value by = at.args[1].value.signed(bits);
            sum = adds ? Arithmetic.add(sum, by, bits) : Arithmetic.sub(sum, by, bits);
            at = LoopCheck.copied(at.args[0]);
        }
        return at == phi && sum.isNumber() ? sum : null;
    }
}

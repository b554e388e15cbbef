package io.tessera.guardian.verify.loop;

import io.tessera.guardian.verify.flow.FlowEdge;
import io.tessera.guardian.verify.value.Node;
import io.tessera.guardian.verify.value.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Upper bounds of the iterations of a counted loop, from the distance between its counter's start and its bound. The distance is a number if both
 * are, or follows from how the bound was computed from that start. Immutable.
 */
final class Passes {
    private static final int DEEPEST = 8;
    /** Iterations beyond the steps that fit into the distance: the first one, and a last one if the compared value was not yet counted. */
    static final int SPARE = 2;

    private final boolean signed;
    private final boolean up;
    private final Node first;

    private Passes(Node first, boolean up, boolean signed) {
        this.first = first;
        this.up = up;
        this.signed = signed;
    }

    /**
     * Returns the iterations of a loop that ends.
     *
     * @param starts the counter's values when the loop is entered
     * @param step   least amount that an iteration adds or subtracts
     * @param up     whether it adds
     * @param strict whether a counter that equals the limit ends the loop
     */
    static long ordered(List<Node> starts, Node limit, long step, boolean up, boolean signed, boolean strict) {
        long most = 0;
        for (Node start : starts) {
            most = Math.max(most, new Passes(start, up, signed).distance(limit, DEEPEST));
        }
        return starts.isEmpty() || most >= WorkBetweenLooks.UNBOUNDED || step < 1 ? WorkBetweenLooks.UNBOUNDED
                : (strict ? Math.max(0, most - 1) : most) / step + SPARE;
    }

    /**
     * Returns the iterations of a loop whose counter reaches the bound, except for low bits.
     *
     * @param step a power of two, or the negative of one
     * @param bits width of the counter
     */
    static long equal(List<Node> starts, Node limit, long step, int bits) {
        long size = Math.abs(step);
        if (Long.bitCount(size) != 1) {
            return WorkBetweenLooks.UNBOUNDED;
        }
        long most = 0;
        for (Node start : starts) {
            most = Math.max(most, equal(start, limit, step, size, bits));
        }
        return starts.isEmpty() || most >= WorkBetweenLooks.UNBOUNDED ? WorkBetweenLooks.UNBOUNDED : Math.max(0, most - 1) / size + SPARE;
    }

    /**
     * Returns whether a counter that begins at any of the starts reaches the limit exactly, directly or after an overflow: whole steps lie between
     * them.
     */
    static boolean meets(List<Node> starts, Node limit, long step) {
        int bits = Long.numberOfTrailingZeros(step);
        if (Math.abs(step) != 1L << bits) {
            return false;
        }
        Node made = limit.origin();
        boolean moved = (made.is("add") || made.is("sub")) && made.typed(Integer.SIZE) && made.instruction.modifiers().size() == 1
                && made.args[1].value.isNumber() && made.args[1].value.align() >= bits;
        for (Node start : starts) {
            boolean numbers = start.value.isNumber() && limit.value.exact()
                    && (start.value.exact() ? Value.tz(start.value.low() - limit.value.low())
                            : Math.min(start.value.align(), Value.tz(limit.value.low()))) >= bits;
            if (!numbers && !(moved && made.args[0].origin() == start.origin())) {
                return false;
            }
        }
        return !starts.isEmpty();
    }

    private static long equal(Node start, Node limit, long step, long size, int bits) {
        Node made = limit.origin();
        Value left = null;
        if (made.is(step > 0 ? "add" : "sub") && made.typed(Integer.SIZE) && made.args.length == 2 && made.args[0].origin() == start.origin()) {
            left = made.args[1].value;
        }
        if (left != null && left.isNumber()) {
            Value distance = left.unsigned(Integer.SIZE);
            return distance.low() >= size ? distance.high() : WorkBetweenLooks.UNBOUNDED;
        }
        if (!start.value.isNumber() || !limit.value.isNumber()) {
            return WorkBetweenLooks.UNBOUNDED;
        }
        Value from = start.value.signed(bits);
        Value to = limit.value.signed(bits);
        if (Math.min(from.low(), to.low()) < -WorkBetweenLooks.UNBOUNDED || Math.max(from.high(), to.high()) > WorkBetweenLooks.UNBOUNDED) {
            return WorkBetweenLooks.UNBOUNDED;
        }
        long least = step > 0 ? to.low() - from.high() : from.low() - to.high();
        return least >= size ? step > 0 ? to.high() - from.low() : from.high() - to.low() : WorkBetweenLooks.UNBOUNDED;
    }

    /** Returns an upper bound of how far a value can lie beyond the start. */
    private long distance(Node node, int deep) {
        Node made = node.origin();
        if (made == first.origin()) {
            return 0;
        }
        long known = numbers(node);
        if (deep == 0 || made.kind != Node.Kind.RESULT) {
            return known;
        }
        String type = signed ? "s32" : "u32";
        if (made.is(up ? "min" : "max", type) && made.instruction.modifiers().size() == 1) {
            return Math.min(known, Math.min(distance(made.args[0], deep - 1), distance(made.args[1], deep - 1)));
        }
        if (made.is("selp") && made.typed(Integer.SIZE)) {
            return Math.min(known, Math.max(distance(made.args[0], deep - 1), distance(made.args[1], deep - 1)));
        }
        if (made.is(up ? "add" : "sub") && made.typed(Integer.SIZE) && made.instruction.modifiers().size() == 1
                && made.args[1].kind == Node.Kind.NUMBER
                && made.args[0].value.isNumber()) {
            long by = made.args[1].number;
            Value from = range(made.args[0].value);
            long top = signed ? Integer.MAX_VALUE : 0xFFFF_FFFFL;
            long bottom = signed ? Integer.MIN_VALUE : 0;
            boolean within = by >= 0 && by <= Integer.MAX_VALUE && (up ? from.high() <= top - by : from.low() >= bottom + by);
            return within ? Math.min(known, distance(made.args[0], deep - 1) + by) : known;
        }
        return known;
    }

    private Value range(Value value) {
        return signed ? value.signed(Integer.SIZE) : value.unsigned(Integer.SIZE);
    }

    private long numbers(Node node) {
        long top = signed ? Integer.MAX_VALUE : 0xFFFF_FFFFL;
        long bottom = signed ? Integer.MIN_VALUE : 0;
        Value to = node.value.isNumber() ? range(node.value) : null;
        Value from = first.value.isNumber() ? range(first.value) : null;
        if (up) {
            return Math.max(0, (to == null ? top : to.high()) - (from == null ? bottom : from.low()));
        }
        return Math.max(0, (from == null ? top : from.high()) - (to == null ? bottom : to.low()));
    }

    /** The values at a loop's head when the loop is entered, of all that may come in. */
    static List<Node> starts(Node phi, List<FlowEdge> in, Predicate<FlowEdge> round) {
        List<Node> starts = new ArrayList<>(1);
        for (int n = 0; n < in.size(); n++) {
            if (!round.test(in.get(n))) {
                starts.add(phi.args[n]);
            }
        }
        if (phi.args.length > in.size()) {
            starts.addAll(List.of(phi.args).subList(in.size(), phi.args.length));
        }
        return starts;
    }
}

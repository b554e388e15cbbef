package io.tessera.guardian.verify.loop;

import io.tessera.guardian.verify.value.Node.Fact;
import io.tessera.guardian.verify.value.Node;
import io.tessera.guardian.verify.value.Value;
import java.util.List;

/**
 * The range of a loop's counter at the loop's head, if its starts, its step and its bound are known numbers. It extends from the starts by as many
 * steps as the bound allows. Immutable.
 *
 * @param numbers its range
 * @param passes  maximum number of times that it is counted and control returns to the head
 */
record CounterRange(Value numbers, long passes) {
    /**
     * Computes the range for a loop that is shown to end.
     *
     * @param fact    the fact that holds while the loop continues
     * @param counter the sum
     * @param starts  the counter's values when the loop is entered
     * @param after   whether the sum is compared; otherwise, its operand is
     * @return null if it is not known
     */
    static CounterRange of(Fact fact, Node counter, List<Node> starts, boolean after) {
        int bits = fact.bits();
        Value by = counter.args[1].value.isNumber() ? counter.args[1].value.signed(bits) : null;
        Value bound = fact.other().value.exact() ? plain(fact.other().value, fact) : null;
        if (bits != Integer.SIZE || by == null || !by.exact() || by.low() == 0 || bound == null || starts.isEmpty()) {
            return null;
        }
        long step = counter.is("add") ? by.low() : -by.low();
        long low = Long.MAX_VALUE;
        long high = Long.MIN_VALUE;
        long passes = 0;
        int align = Value.tz(step);
        for (Node start : starts) {
            long steps = start.value.exact() ? steps(fact.compare(), plain(start.value, fact).low(), step, bound.low()) : -1;
            if (steps < 0) {
                return null;
            }
            long from = plain(start.value, fact).low();
            long most = after ? steps : steps + 1;
            low = Math.min(low, Math.min(from, from + most * step));
            high = Math.max(high, Math.max(from, from + most * step));
            passes = Math.max(passes, most);
            align = Math.min(align, Value.tz(from));
        }
        return new CounterRange(Value.number(low, high, align, bits), passes);
    }

    private static Value plain(Value value, Fact fact) {
        return fact.signed() ? value.signed(Integer.SIZE) : value.unsigned(Integer.SIZE);
    }

    /** Returns how many steps lead to a number for which the loop continues; below 0 if that is not known. */
    private static long steps(String compare, long from, long step, long bound) {
        boolean up = step > 0;
        boolean whole = (bound - from) % step == 0 && (up ? from < bound : from > bound);
        return switch (compare) {
            case "lt" -> up ? Math.max(0, Math.floorDiv(bound - 1 - from, step)) : -1;
            case "le" -> up ? Math.max(0, Math.floorDiv(bound - from, step)) : -1;
            case "gt" -> up ? -1 : Math.max(0, Math.floorDiv(bound + 1 - from, step));
            case "ge" -> up ? -1 : Math.max(0, Math.floorDiv(bound - from, step));
            case "ne" -> whole ? (bound - from) / step - 1 : -1;
            default -> -1;
        };
    }
}

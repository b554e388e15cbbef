package io.tessera.guardian.verify.value;

import io.tessera.guardian.verify.value.Node.Fact.Kind;
import io.tessera.guardian.verify.value.Node.Fact;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Facts that follow from a predicate for the values from which it was computed. Stateless. */
public final class Facts {
    private static final int DEEPEST = 6;
    private static final int MOST = 12;
    private static final Map<String, String> OPPOSITE = Map.of("eq", "ne", "ne", "eq", "lt", "ge", "ge", "lt", "gt", "le", "le", "gt");
    private static final Map<String, String> SWAPPED = Map.of("eq", "eq", "ne", "ne", "lt", "gt", "gt", "lt", "le", "ge", "ge", "le");
    private static final Map<String, String> UNSIGNED = Map.of("lo", "lt", "ls", "le", "hi", "gt", "hs", "ge");

    private Facts() {
    }

    /** All that holds where a predicate does, or where it does not. */
    public static List<Fact> of(Node predicate, boolean truth) {
        List<Fact> found = new ArrayList<>(2);
        collect(predicate, truth, 0, found);
        return found;
    }

    private static void collect(Node predicate, boolean truth, int depth, List<Fact> found) {
        if (depth > DEEPEST || found.size() >= MOST) {
            return;
        }
        if (predicate.kind == Node.Kind.NOT) {
            collect(predicate.args[0], !truth, depth + 1, found);
        } else if (predicate.is("not", "pred") || predicate.is("mov", "pred")) {
            collect(predicate.args[0], truth == predicate.is("mov"), depth + 1, found);
        } else if (predicate.is("and", "pred") && truth || predicate.is("or", "pred") && !truth) {
            collect(predicate.args[0], truth, depth + 1, found);
            collect(predicate.args[1], truth, depth + 1, found);
        } else if (predicate.is("and", "pred")) {
            unless(predicate.args[0], predicate.args[1], depth, found);
            unless(predicate.args[1], predicate.args[0], depth, found);
        } else if (predicate.is("setp") && predicate.index == 0) {
            compare(predicate, truth, depth, found);
        }
    }

    /** At least one of two conditions does not hold: where the second holds, the first does not. */
    private static void unless(Node predicate, Node where, int depth, List<Fact> found) {
        List<Fact> inner = new ArrayList<>(2);
        collect(predicate, false, depth + 1, inner);
        for (Fact fact : inner) {
            boolean not = where.kind == Node.Kind.NOT || where.is("not", "pred");
            Fact conditional = fact.when(not ? where.args[0] : where, not);
            if (conditional != null) {
                found.add(conditional);
            }
        }
    }

    private static void compare(Node setp, boolean truth, int depth, List<Fact> found) {
        List<String> words = setp.instruction.modifiers();
        boolean combined = words.size() == 3;
        if (combined && !(words.get(1).equals("and") && truth && setp.args.length == 3) || !combined && words.size() != 2) {
            return;
        }
        if (combined) {
            collect(setp.args[2], true, depth + 1, found);
        }
        var type = setp.instruction.type().orElse(null);
        String word = words.getFirst();
        String compare = UNSIGNED.getOrDefault(word, word);
        if (type == null || !OPPOSITE.containsKey(compare) || !setp.typed(32) && !setp.typed(64)) {
            return;
        }
        boolean signed = type.ptx().startsWith("s") && !UNSIGNED.containsKey(word);
        String holds = truth ? compare : OPPOSITE.get(compare);
        Node left = setp.args[0];
        Node right = setp.args[1];
        Fact compared = new Fact(Kind.COMPARE, left, right, holds, signed, type.bits(), 0);
        found.add(compared);
        Node sum = left.origin();
        if (sum.is("add") && sum.typed(type.bits()) && sum.instruction.modifiers().size() == 1 && sum.args[1].kind == Node.Kind.NUMBER) {
            found.add(compared.before(sum.args[0], sum.args[1].number));
        }
        if (right.kind != Node.Kind.NUMBER) {
            found.add(new Fact(Kind.COMPARE, right, left, SWAPPED.get(holds), signed, type.bits(), 0));
        } else if (right.number == 0 && holds.equals("eq") && type.bits() == 32) {
            zero(left, found);
        } else if (holds.equals("ne") && right.number == 0) {
            Handles.one(left, found);
        }
    }

    /** A word is zero: the form of {@code Mode.CHECK}. */
    private static void zero(Node word, List<Fact> found) {
        Node whole = WindowForms.half(word, 1);
        if (whole != null) {
            found.add(new Fact(Kind.LOW, whole, null, "", false, 64, 0));
        } else if (word.is("or", "b32") && found.size() < MOST) {
            zero(word.args[0], found);
            zero(word.args[1], found);
        } else if (word.is("xor", "b32")) {
            Node outside = word.args[0];
            boolean form = WindowForms.isBase(word.args[1]) && outside.is("and", "b32") && outside.args[1].is("not", "b32")
                    && WindowForms.isExtent(outside.args[1].args[0]);
            Node address = form ? WindowForms.half(outside.args[0], 1) : null;
            if (address != null) {
                // First: what divides an address under a condition is kept of one in the window.
                found.addFirst(new Fact(Kind.INSIDE, address, null, "", false, 64, 0));
            }
        } else if (word.is("and", "b32") && word.args[1].kind == Node.Kind.NUMBER) {
            long bits = word.args[1].number;
            Node address = WindowForms.half(word.args[0], 0);
            if (address != null && bits > 0 && (bits & bits + 1) == 0) {
                found.add(new Fact(Kind.ALIGNED, address, null, "", false, 64, Value.tz(bits + 1)));
            }
        }
    }
}

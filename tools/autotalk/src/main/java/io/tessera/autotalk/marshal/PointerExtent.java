package io.tessera.autotalk.marshal;

import io.tessera.autotalk.description.EntryParameter;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** Number of elements to which a pointer refers. */
public sealed interface PointerExtent {
    /** A constant number. */
    record Constant(long elements) implements PointerExtent {
    }

    /** A number computed from a parameter: its value times {@code factor}, minus {@code less}, and at least 0. */
    record Value(int parameter, long factor, long less) implements PointerExtent {
    }

    /** The number to which a parameter points when the call is made. */
    record Behind(int parameter) implements PointerExtent {
    }

    /** Text with its final zero. */
    record Text() implements PointerExtent {
    }

    /** A number that generated code cannot determine: the annotation's expression, empty if there is none. */
    record Handwritten(String expression) implements PointerExtent {
    }

    /** Parses an annotation's expression over the parameters of an entry. */
    static PointerExtent parse(String expression, List<EntryParameter> parameters) {
        Matcher number = Forms.NUMBER.matcher(expression);
        Matcher product = Forms.PRODUCT.matcher(expression);
        if (expression.equals("string")) {
            return new Text();
        }
        if (Forms.HANDWRITTEN.contains(expression)) { /* a parameter may have such a name too */
            return new Handwritten(expression);
        }
        if (number.matches()) {
            return new Constant(Long.parseLong(expression));
        }
        if (!product.matches() || index(parameters, product.group(3)) < 0) {
            return new Handwritten(expression);
        }
        int parameter = index(parameters, product.group(3));
        long factor = product.group(1) == null ? 1 : Long.parseLong(product.group(1));
        long less = product.group(4) == null ? 0 : Long.parseLong(product.group(4));
        if (product.group(2) == null) {
            return new Value(parameter, factor, less);
        }
        return factor == 1 && less == 0 ? new Behind(parameter) : new Handwritten(expression);
    }

    private static int index(List<EntryParameter> parameters, String name) {
        return IntStream.range(0, parameters.size()).filter(i -> parameters.get(i).name().equals(name)).findFirst()
                .orElse(-1);
    }

    /** Returns the words for the description that Java reads. */
    default String words() {
        return switch (this) {
            case Constant constant -> "count " + constant.elements();
            case Value value -> "value " + value.parameter() + " " + value.factor() + " " + value.less();
            case Behind behind -> "behind " + behind.parameter();
            case Text ignored -> "string";
            case Handwritten handwritten -> ("handwritten " + handwritten.expression()).strip();
        };
    }

    /** The forms that generated code can compute. */
    final class Forms {
        private static final Set<String> HANDWRITTEN = Set.of("image", "packed");
        private static final Pattern NUMBER = Pattern.compile("[0-9]+");
        private static final Pattern PRODUCT = Pattern.compile("(?:([0-9]+) \\* )?(\\*)?([A-Za-z_][A-Za-z0-9_]*)"
                + "(?: - ([0-9]+))?");

        private Forms() {
        }
    }
}

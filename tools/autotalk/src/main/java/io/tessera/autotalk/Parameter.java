package io.tessera.autotalk;

import java.util.Map;
import java.util.TreeMap;

/**
 * A parameter of an entry, as far as its binary interface and its use go.
 *
 * @param name      its name
 * @param type      its type in the description's spelling, see {@link TypeSpelling}
 * @param direction what the callee does with it
 * @param facts     further facts from the annotations, for example {@code extent} and {@code space}; never null
 */
public record Parameter(String name, String type, Direction direction, Map<String, String> facts) {

    /** Data flow of a parameter. */
    public enum Direction {
        /** Read by the callee. */
        IN,
        /** Written by the callee. */
        OUT,
        /** Read and written. */
        INOUT
    }

    /** Copies the facts into a sorted map, so that descriptions are written in one order. */
    public Parameter {
        facts = Map.copyOf(facts);
    }

    /** The handle type that the parameter carries or points to, or an empty string. */
    public String handleKind() {
        String base = TypeSpelling.base(type);
        return TypeSpelling.isHandle(base) ? base : "";
    }

    /** Whether nothing tells yet how much memory an untyped or counted pointer covers. */
    public boolean extentUnknown() {
        return type.endsWith("*") && TypeSpelling.base(type).equals("void") && !facts.containsKey("extent");
    }

    /** The same parameter with a further fact; {@code direction} is taken as such. */
    public Parameter with(String key, String value) {
        if (key.equals("direction")) {
            return new Parameter(name, type, Direction.valueOf(value.toUpperCase(java.util.Locale.ROOT)), facts);
        }
        Map<String, String> more = new TreeMap<>(facts);
        more.put(key, value);
        return new Parameter(name, type, direction, more);
    }
}

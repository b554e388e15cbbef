package io.tessera.agent.instrument;

import java.util.List;
import java.util.Map;

/** One line of the table: a role, a class, some of its methods, and the meaning of their arguments. Immutable. */
final class Rule {
    /** Stands for the returned value in place of an argument's index. */
    static final int RETURN = -1;
    /** No such argument. */
    static final int ABSENT = -2;

    private static final List<String> DIRECTIONS = List.of("h2h", "h2d", "d2h", "d2d", "any");
    private static final List<String> KINDS = List.of("device", "pinned", "managed", "array");

    private final Role role;
    private final String type;
    private final String method;
    private final Map<String, String> keys;

    Rule(Role role, String type, String method, Map<String, String> keys) {
        this.role = role;
        this.type = type;
        this.method = method;
        this.keys = Map.copyOf(keys);
        check();
    }

    private void check() {
        for (String key : keys.keySet()) {
            if (!role.takes(key)) {
                throw new IllegalArgumentException(role + " has no " + key);
            }
        }
        if (role == Role.ALLOC || role == Role.FREE) {
            required("address");
        }
        if (role == Role.NAME) {
            required("kernel");
            required("name");
        }
        if (role == Role.ALLOC && constantKind() < 0) {
            throw new IllegalArgumentException("kind=" + keys.get("kind") + ": one of " + KINDS);
        }
        for (String key : List.of("address", "kernel", "name")) {
            argument(key);
        }
        if (role == Role.COPY) {
            direction();
        }
        factor(0);
        factor(1);
    }

    private void required(String key) {
        if (!keys.containsKey(key)) {
            throw new IllegalArgumentException(role + " needs " + key);
        }
    }

    Role role() {
        return role;
    }

    String type() {
        return type;
    }

    /** Returns the method's name, or a pattern. */
    String method() {
        return method;
    }

    /** Returns the first library version that has it; empty: any. */
    String since() {
        return keys.getOrDefault("since", "");
    }

    /** Returns the last library version that has it; empty: any. */
    String until() {
        return keys.getOrDefault("until", "");
    }

    /** Returns whether the rule matches a method's name. */
    boolean matches(String name) {
        for (String except : keys.getOrDefault("except", "").split(",")) {
            if (!except.isEmpty() && matches(except, name)) {
                return false;
            }
        }
        return matches(method, name);
    }

    /** {@code *} at the end stands for anything. */
    private static boolean matches(String pattern, String name) {
        return pattern.endsWith("*") ? name.startsWith(pattern.substring(0, pattern.length() - 1))
                : pattern.equals(name);
    }

    boolean isPattern() {
        return method.endsWith("*");
    }

    /** Returns the index of an argument, {@link #RETURN} or {@link #ABSENT}. */
    int argument(String key) {
        return place(keys.get(key));
    }

    /** Returns the argument index of a factor of the size; {@link #ABSENT}: there is none, and the factor is 1. */
    int factor(int index) {
        String[] factors = keys.getOrDefault("bytes", "").split("\\*");
        return index < factors.length && !factors[index].isEmpty() ? place(factors[index]) : ABSENT;
    }

    private static int place(String text) {
        if (text == null) {
            return ABSENT;
        }
        return text.equals("return") ? RETURN : Integer.parseInt(text);
    }

    /** Returns the size if no argument gives it: 0, for an array for example. */
    long constantSize() {
        return 0;
    }

    /** Returns the ordinal of the memory's kind; -1: there is no such kind. */
    int constantKind() {
        return KINDS.indexOf(keys.getOrDefault("kind", "device"));
    }

    /** Returns whether the direction is fixed; otherwise {@link #direction()} is the index of an argument. */
    boolean isDirectionConstant() {
        return DIRECTIONS.contains(keys.getOrDefault("direction", "any"));
    }

    /** Returns the number of the fixed direction, or the index of the argument that holds it. */
    int direction() {
        String direction = keys.getOrDefault("direction", "any");
        int constant = DIRECTIONS.indexOf(direction);
        return constant < 0 ? Integer.parseInt(direction) : constant;
    }

    /** Returns the minimum number of arguments of a matching method. */
    int arguments() {
        int most = -1;
        for (String key : List.of("address", "kernel", "name")) {
            most = Math.max(most, argument(key));
        }
        most = Math.max(most, Math.max(factor(0), factor(1)));
        if (role == Role.COPY && !isDirectionConstant()) {
            most = Math.max(most, direction());
        }
        return most + 1;
    }

    @Override
    public String toString() {
        return role + " " + type + " " + method + " " + keys;
    }
}

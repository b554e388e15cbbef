package io.tessera.guardian.trust;

import java.util.Map;

/** Selects whether loops in machine code look at their program's stop word. Stateless. */
public enum FencedLoops {
    /** They look where they have a place for it, and end once the word says so. */
    LOOK,
    /** They do not look: the executor's restart, with all programs in it, ends those that do not end by themselves. */
    OFF;

    /** Environment variable with the name of a choice in small letters; without it, {@link #LOOK}. */
    public static final String VARIABLE = "TESSERA_FENCE_LOOPS";

    /**
     * Returns the choice in an environment.
     *
     * @throws IllegalArgumentException with a message for the user, if there is no such choice
     */
    public static FencedLoops of(Map<String, String> environment) {
        String name = environment.getOrDefault(VARIABLE, "");
        return switch (name) {
            case "", "look" -> LOOK;
            case "off" -> OFF;
            default -> throw new IllegalArgumentException(VARIABLE + "=" + name + ": it is look or off");
        };
    }
}

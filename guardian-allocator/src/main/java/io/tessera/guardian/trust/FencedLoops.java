package io.tessera.guardian.trust;

import java.util.Map;

/** What ends loops in machine code that do not end by themselves. Stateless. */
public enum FencedLoops {
    /** The executor's restart, with all programs in it. */
    RESTART,
    /** The stop word of their program, at which they look. */
    LOOK;

    /** Environment variable with the name of a choice in small letters; without it, {@link #RESTART}. */
    public static final String VARIABLE = "TESSERA_FENCE_LOOPS";

    /**
     * The choice that an environment names.
     *
     * @throws IllegalArgumentException with a sentence, if there is no such choice
     */
    public static FencedLoops of(Map<String, String> environment) {
        String name = environment.getOrDefault(VARIABLE, "");
        return switch (name) {
            case "", "restart" -> RESTART;
            case "look" -> LOOK;
            default -> throw new IllegalArgumentException(VARIABLE + "=" + name + ": it is restart or look");
        };
    }
}

package io.tessera.attacks;

import java.util.List;

/**
 * An attack, which is a separate program.
 *
 * @param name    group and name, as {@code load/index}
 * @param must    required outcome for the attacker
 * @param what    description of what it does
 * @param command the program and its arguments
 * @param seconds time limit; 0: the suite's
 * @param late    whether it runs after the others, because it can keep the device busy
 */
public record Attack(String name, Must must, String what, List<String> command, int seconds, boolean late) {
    /** Required outcome for an attacker. In every case, its victim must notice nothing. */
    public enum Must {
        /** Every call that it reports is refused. */
        REFUSED,
        /** Whatever the results of its calls, it reads and changes nothing. */
        HARMLESS,
        /** It ends within its time limit, although it requests endless work. */
        ENDS,
        /** As harmless, but if it has not ended within its time limit, it is ended with all its work. */
        STOPPED;

        /** Returns the outcome for a word in a program's list. */
        static Must of(String word) {
            for (Must must : values()) {
                if (must.word().equals(word)) {
                    return must;
                }
            }
            throw new IllegalArgumentException("no attack must be \"" + word + "\"");
        }

        /** Returns the word in a program's list. */
        public String word() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }
    }

    /** Returns the part of the name before the slash. */
    public String group() {
        return name.substring(0, name.indexOf('/'));
    }

    /** Returns whether another client with the same secret must have run before and ended. */
    boolean wantsPredecessor() {
        return group().equals("leftovers");
    }
}

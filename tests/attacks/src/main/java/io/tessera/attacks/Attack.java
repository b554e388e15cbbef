package io.tessera.attacks;

import java.util.List;

/**
 * One attack: a program of its own.
 *
 * @param name    group and name, as {@code load/index}
 * @param must    what must happen to the attacker
 * @param what    what it does, in words
 * @param command the program and its arguments
 * @param seconds how long it may take; 0: the suite's bound
 * @param late    whether it comes after the others, because it can keep the device busy
 */
public record Attack(String name, Must must, String what, List<String> command, int seconds, boolean late) {
    /** What must happen to an attacker. That its victim notices nothing goes without saying. */
    public enum Must {
        /** Every call that it answers for is refused. */
        REFUSED,
        /** Whatever it is answered, it gets and changes nothing. */
        HARMLESS,
        /** It ends within its bound, although it asks for endless work. */
        ENDS,
        /** The same as harmless; if its bound is over before it has ended, it is ended with all its work. */
        STOPPED;

        /** By the word that programs write. */
        static Must of(String word) {
            for (Must must : values()) {
                if (must.word().equals(word)) {
                    return must;
                }
            }
            throw new IllegalArgumentException("no attack must be \"" + word + "\"");
        }

        /** The word that programs write. */
        public String word() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }
    }

    /** The part of the name before the slash. */
    public String group() {
        return name.substring(0, name.indexOf('/'));
    }

    /** Whether somebody with the same secret must have been there before and gone. */
    boolean wantsPredecessor() {
        return group().equals("leftovers");
    }
}

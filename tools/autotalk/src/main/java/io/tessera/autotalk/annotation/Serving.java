package io.tessera.autotalk.annotation;

import java.util.Locale;
import java.util.Optional;

/** How the direct port serves an entry. */
public sealed interface Serving {
    /** Passed on to the vendor's entry by a jump. */
    record Pass() implements Serving {
    }

    /**
     * Work for the device: a generated wrapper goes through the gate of the device first.
     *
     * @param kind   kind of submission, which selects the counter
     * @param stream C expression for the stream; empty: the entry's own stream parameter, or none
     */
    record Submit(EntrySubmission kind, Optional<String> stream) implements Serving {
    }

    /** Waits for the device: a generated wrapper informs the accounting. */
    record Sync() implements Serving {
    }

    /**
     * The driver may need device memory of its own: a generated wrapper repeats the call while other clients make room. Wrappers of
     * submissions do so, too.
     */
    record Room() implements Serving {
    }

    /** Hand-written C in the preload library. */
    record Hook() implements Serving {
    }

    /** Returns whether there is a generated wrapper around it. */
    default boolean isWrapped() {
        return switch (this) {
            case Pass ignored -> false;
            case Hook ignored -> false;
            case Submit ignored -> true;
            case Sync ignored -> true;
            case Room ignored -> true;
        };
    }

    /** Returns the word in annotations and in the coverage table. */
    default String word() {
        return switch (this) {
            case Pass ignored -> "pass";
            case Submit ignored -> "submit";
            case Sync ignored -> "sync";
            case Room ignored -> "room";
            case Hook ignored -> "hook";
        };
    }

    /** Returns the word, and for submissions the kind. */
    default String label() {
        return this instanceof Submit submit
                ? word() + " " + submit.kind().name().toLowerCase(Locale.ROOT).replace('_', ' ') : word();
    }
}

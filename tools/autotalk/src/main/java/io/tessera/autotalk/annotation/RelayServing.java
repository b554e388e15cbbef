package io.tessera.autotalk.annotation;

/** How the relay port serves an entry. */
public sealed interface RelayServing {
    /** Hand-written C that answers in the client, or sends records of its own. */
    record Local() implements RelayServing {
    }

    /**
     * Sent to the executor.
     *
     * @param waits whether it waits for the answer
     * @param front whether hand-written C precedes and calls the generated sender
     */
    record Send(boolean waits, boolean front) implements RelayServing {
    }

    /** Answered with NOT_SUPPORTED and counted by name; the reason is for the error log. */
    record Refuse(String reason) implements RelayServing {
    }

    /** Returns the words in annotations and in the coverage table. */
    default String word() {
        return switch (this) {
            case Local ignored -> "local";
            case Send send -> (send.front() ? "wrap " : "") + (send.waits() ? "call" : "async");
            case Refuse ignored -> "refuse";
        };
    }

    /** Returns whether a function for it is written by hand. */
    default boolean handwritten() {
        return this instanceof Local || this instanceof Send send && send.front();
    }
}

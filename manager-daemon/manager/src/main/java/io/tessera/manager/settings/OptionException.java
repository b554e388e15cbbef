package io.tessera.manager.settings;

/** An option is unknown or has a wrong value; the message names it and says what is right. */
public final class OptionException extends Exception {
    private static final long serialVersionUID = 1L;

    /** Creates an exception with a sentence for the person who wrote the option. */
    public OptionException(String message) {
        super(message);
    }
}

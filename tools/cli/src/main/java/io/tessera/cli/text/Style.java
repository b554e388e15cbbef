package io.tessera.cli.text;

/** Style of emphasis; the escape sequences are those of ECMA-48. */
public enum Style {
    /** No emphasis: files, pipes, NO_COLOR. */
    PLAIN,
    /** Colours and bold. */
    COLOURED;

    private static final String RESET = "\u001b[0m";

    /** Meaning of a word to the reader. */
    public enum Emphasis {
        /** A heading. */
        HEADING("\u001b[1m"),
        /** Good, or working. */
        GOOD("\u001b[32m"),
        /** Waiting, or worth a look. */
        CAUTION("\u001b[33m"),
        /** Wrong. */
        BAD("\u001b[31m"),
        /** Less important than other text. */
        FAINT("\u001b[2m"),
        /** Ordinary text. */
        NONE("");

        private final String sequence;

        Emphasis(String sequence) {
            this.sequence = sequence;
        }
    }

    /** Returns the text with an emphasis; the text itself under {@link #PLAIN}. */
    public String apply(Emphasis emphasis, String text) {
        return this == PLAIN || emphasis == Emphasis.NONE ? text : emphasis.sequence + text + RESET;
    }
}

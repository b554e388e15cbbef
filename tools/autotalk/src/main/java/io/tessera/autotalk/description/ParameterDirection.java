package io.tessera.autotalk.description;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** Which way the content behind a parameter goes. */
public enum ParameterDirection {
    /** The driver only reads it. */
    IN,
    /** The driver only writes it. */
    OUT,
    /** The driver may read and write it: all that a parser can say of a pointer to something that is not const. */
    INOUT;

    /** The word in descriptions and annotations. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The direction that a word names. */
    public static Optional<ParameterDirection> ofWord(String word) {
        return Arrays.stream(values()).filter(direction -> direction.word().equals(word)).findFirst();
    }
}

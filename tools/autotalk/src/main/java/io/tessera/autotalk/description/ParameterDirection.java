package io.tessera.autotalk.description;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** Direction of the data to which a parameter refers. */
public enum ParameterDirection {
    /** The driver only reads it. */
    IN,
    /** The driver only writes it. */
    OUT,
    /** The driver may read and write it: a parser cannot say more about a pointer to a type that is not const. */
    INOUT;

    /** Returns the word in descriptions and annotations. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the direction that a word names. */
    public static Optional<ParameterDirection> ofWord(String word) {
        return Arrays.stream(values()).filter(direction -> direction.word().equals(word)).findFirst();
    }
}

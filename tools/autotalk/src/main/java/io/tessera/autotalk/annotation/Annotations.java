package io.tessera.autotalk.annotation;

import io.tessera.autotalk.description.ParameterDirection;
import java.util.List;
import java.util.Optional;

/**
 * An annotation file.
 *
 * @param <S>        what its decisions are: {@link Serving} or {@link RelayServing}
 * @param file       how messages name it
 * @param servings   decisions how entries are served
 * @param parameters what is known of parameters
 * @param structures what is known of members of structures
 */
public record Annotations<S>(String file, List<ServingRule<S>> servings, List<ParameterRule> parameters,
        List<StructureRule> structures) {
    /** Copies the lists. */
    public Annotations {
        servings = List.copyOf(servings);
        parameters = List.copyOf(parameters);
        structures = List.copyOf(structures);
    }

    /** Which memory a pointer or address leads to. */
    public enum Space {
        /** Memory of the calling process. */
        HOST,
        /** Memory of a device. */
        DEVICE,
        /** Either; the driver finds out by the address (unified addressing). */
        ANY,
        /** None: a value that the driver only hands on, as the argument of a callback. */
        VALUE
    }

    /** A line that decides how entries are served; {@code line} counts from 1. */
    public record ServingRule<S>(int line, NamePattern entries, S serving) {
    }

    /**
     * A line that says what is behind a parameter.
     *
     * @param line      line in the file, from 1
     * @param entries   whose
     * @param parameter which parameter
     * @param direction which way its content goes, where the header does not tell
     * @param space     which memory it leads to
     * @param extent    how many elements, as an expression over the entry's parameters, {@code *NAME} for what is behind
     *                  one; {@code string} for text that ends with a zero, {@code image} for what tells its own length,
     *                  {@code by NAME} for what is as long as the value of a parameter says, {@code packed} for what a
     *                  relayed call's front puts together
     */
    public record ParameterRule(int line, NamePattern entries, NamePattern parameter, Optional<ParameterDirection> direction,
            Optional<Space> space, Optional<String> extent) {
    }
}

package io.tessera.autotalk.annotation;

import io.tessera.autotalk.description.ParameterDirection;
import java.util.List;
import java.util.Optional;

/**
 * An annotation file.
 *
 * @param <S>        type of its decisions: {@link Serving} or {@link RelayServing}
 * @param file       name of the file in messages
 * @param servings   decisions on how entries are served
 * @param parameters facts about parameters
 * @param structures facts about members of structures
 */
public record Annotations<S>(String file, List<ServingRule<S>> servings, List<ParameterRule> parameters,
        List<StructureRule> structures) {
    /** Copies the lists. */
    public Annotations {
        servings = List.copyOf(servings);
        parameters = List.copyOf(parameters);
        structures = List.copyOf(structures);
    }

    /** Memory to which a pointer or address refers. */
    public enum Space {
        /** Memory of the calling process. */
        HOST,
        /** Memory of a device. */
        DEVICE,
        /** Either; the driver determines it from the address (unified addressing). */
        ANY,
        /** None: a value that the driver only passes on, such as the argument of a callback. */
        VALUE
    }

    /** A line that decides how entries are served; {@code line} counts from 1. */
    public record ServingRule<S>(int line, NamePattern entries, S serving) {
    }

    /**
     * A line about the memory to which a parameter refers.
     *
     * @param line      line in the file, from 1
     * @param entries   entries of the parameter
     * @param parameter name of the parameter
     * @param direction direction of its content, if the header does not give it
     * @param space     memory to which it refers
     * @param extent number of elements, as an expression over the entry's parameters, {@code *NAME} for the value to which one points;
     *         {@code string} for text that ends with a zero, {@code image} for data that contains its own length,
     * {@code by NAME} for data whose length follows from the value of a parameter, {@code packed} for data that the front of a relayed call
     * assembles
     */
    public record ParameterRule(int line, NamePattern entries, NamePattern parameter, Optional<ParameterDirection> direction,
            Optional<Space> space, Optional<String> extent) {
    }
}

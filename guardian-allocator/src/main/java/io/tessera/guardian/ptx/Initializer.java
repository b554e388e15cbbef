package io.tessera.guardian.ptx;

import java.util.List;

/** The initial contents of a variable. Elements that are not given are zero. Immutable. */
public sealed interface Initializer {
    /**
     * An integer; stored in the variable's width.
     *
     * @param value the 64 bits
     */
    record Integer(long value) implements Initializer {
    }

    /**
     * {@code 0f...}.
     *
     * @param bits IEEE 754 single precision
     */
    record Float32(int bits) implements Initializer {
    }

    /**
     * {@code 0d...} or a decimal constant.
     *
     * @param bits IEEE 754 double precision; rounded to the variable's type where that is narrower
     */
    record Float64(long bits) implements Initializer {
    }

    /**
     * Address of a variable or function: {@code name+8}, {@code generic(name)}, {@code 0xFF00(name)}.
     *
     * @param symbol      the variable or function
     * @param offsetBytes added to its address
     * @param generic     whether the generic address is meant instead of the one in its own space
     * @param mask        which byte of the address is meant ({@code 0xFF}, {@code 0xFF00}, ...), or 0 for all of it
     */
    record AddressOf(String symbol, long offsetBytes, boolean generic, long mask) implements Initializer {
    }

    /**
     * Elements of an array or a vector, nested for more than one dimension.
     *
     * @param elements in order
     */
    record Aggregate(List<Initializer> elements) implements Initializer {
        /** Copies the list. */
        public Aggregate {
            elements = List.copyOf(elements);
        }
    }

    /**
     * Field of a texture, sampler or surface reference: {@code filter_mode = linear}.
     *
     * @param name  the field
     * @param value a word or an integer as written
     */
    record Field(String name, String value) implements Initializer {
    }
}

package io.tessera.guardian.ptx;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A variable of a module, function or block, or a parameter (space {@code .param}, rarely {@code .reg}). A declaration of several variables becomes
 * one {@code Variable} for each. Immutable.
 *
 * @param linkage its visibility
 * @param space          its state space
 * @param alignmentBytes as written, or 0 for its type's natural alignment
 * @param type           type of an element
 * @param vectorLength   1, 2 or 4
 * @param name           its name
 * @param dimensions     lengths of an array, outermost first; {@link #UNSIZED} for {@code []}; empty for a scalar
 * @param initializer    its initial contents, if they are given
 * @param pointer target of an entry's parameter that is declared as a pointer
 * @param attributes     {@code managed}, {@code unified(1,2)}: as written, in order
 * @param line           as in {@link Statement}
 */
public record Variable(Linkage linkage, StateSpace space, int alignmentBytes, ScalarType type, int vectorLength,
        String name, List<Long> dimensions, Optional<Initializer> initializer, Optional<Pointer> pointer,
        List<String> attributes, int line) implements Directive, Statement {
    /** Length of an array that is left open: {@code extern .shared .b8 buffer[]}. */
    public static final long UNSIZED = -1;

    /**
     * {@code .ptr .global .align 16}.
     *
     * @param space          space pointed to, if it is given
     * @param alignmentBytes alignment of what is pointed to, or 0 where it is not given (then 4)
     */
    public record Pointer(Optional<StateSpace> space, int alignmentBytes) {
    }

    /** Copies the lists. */
    public Variable {
        dimensions = List.copyOf(dimensions);
        attributes = List.copyOf(attributes);
    }

    /** Alignment that holds, in bytes: the written one, or that of the type. */
    public int alignment() {
        return alignmentBytes != 0 ? alignmentBytes : type.bytes() * vectorLength;
    }

    /**
     * Size in bytes; an open dimension counts as 0.
     *
     * @throws ArithmeticException if it does not fit 64 bits
     */
    public long sizeBytes() {
        long size = (long) type.bytes() * vectorLength;
        for (long length : dimensions) {
            size = Math.multiplyExact(size, length == UNSIZED ? 0 : length);
        }
        return size;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Variable that && linkage == that.linkage && space == that.space
                && alignmentBytes == that.alignmentBytes && type == that.type && vectorLength == that.vectorLength
                && name.equals(that.name) && dimensions.equals(that.dimensions)
                && initializer.equals(that.initializer) && pointer.equals(that.pointer)
                && attributes.equals(that.attributes);
    }

    @Override
    public int hashCode() {
        return Objects.hash(linkage, space, alignmentBytes, type, vectorLength, name, dimensions, initializer, pointer,
                attributes);
    }
}

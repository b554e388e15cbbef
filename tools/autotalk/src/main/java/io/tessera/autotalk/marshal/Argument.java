package io.tessera.autotalk.marshal;

import io.tessera.autotalk.description.NamedType;
import io.tessera.autotalk.description.ParameterDirection;
import java.util.Optional;

/**
 * A parameter as it travels: one 64-bit slot, and for pointers and structures what lies behind it.
 *
 * @param name  in the header
 * @param type  the type at the end of the pointers
 * @param shape how the value fills its slot
 */
public record Argument(String name, NamedType type, Shape shape) {
    /** How a value fills its slot. */
    public sealed interface Shape {
    }

    /** A number, widened as the ABI does. */
    public record Number(String passing) implements Shape {
    }

    /** A handle. */
    public record Handle(HandleType kind) implements Shape {
    }

    /** An address that nobody looks behind: handed on to a callback, or a function of the program. */
    public record Opaque(boolean function) implements Shape {
    }

    /** A structure by value. */
    public record Structure() implements Shape {
    }

    /**
     * A pointer to host memory.
     *
     * @param elementBytes size of an element; 1 for bytes of unknown type
     * @param pointers     the elements are pointers themselves
     * @param element      the kind of handle that the elements are
     * @param direction    which way they go
     * @param extent       how many
     */
    public record Pointer(int elementBytes, boolean pointers, Optional<HandleType> element, ParameterDirection direction,
            PointerExtent extent) implements Shape {
        /** Whether generated code can measure it and needs not look behind a second pointer. */
        public boolean generated() {
            return !pointers && !(extent instanceof PointerExtent.Handwritten);
        }
    }
}

package io.tessera.autotalk.marshal;

import io.tessera.autotalk.description.NamedType;
import io.tessera.autotalk.description.ParameterDirection;
import java.util.Optional;

/**
 * A parameter in a message: one 64-bit slot, and for pointers and structures also the data.
 *
 * @param name  name in the header
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

    /** An address that is never dereferenced: passed to a callback, or a function of the program. */
    public record Opaque(boolean function) implements Shape {
    }

    /** A structure by value. */
    public record Structure() implements Shape {
    }

    /**
     * A pointer to host memory.
     *
     * @param elementBytes size of an element; 1 for bytes of unknown type
     * @param pointers     whether the elements are pointers themselves
     * @param element      kind of handle of the elements
     * @param direction    direction of the elements
     * @param extent       number of elements
     */
    public record Pointer(int elementBytes, boolean pointers, Optional<HandleType> element, ParameterDirection direction,
            PointerExtent extent) implements Shape {
        /** Returns whether generated code can determine its size and need not dereference a second pointer. */
        public boolean generated() {
            return !pointers && !(extent instanceof PointerExtent.Handwritten);
        }
    }
}

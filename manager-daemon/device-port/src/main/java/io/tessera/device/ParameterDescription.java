package io.tessera.device;

import java.util.Optional;

/**
 * A parameter of an entry: one 64-bit slot of a call.
 *
 * @param name  in the header
 * @param type  the C type at the end of the pointers, as the header names it: {@code CUdeviceptr}, {@code CUstream}
 * @param shape how it fills its slot, and the data behind it
 */
public record ParameterDescription(String name, String type, Shape shape) {
    /** Returns the structure that the parameter is or points to; empty where no field of it needs translation or a check. */
    public Optional<StructureDescription> structure() {
        return StructureDescriptions.of(type);
    }

    /** How a value fills its slot. */
    public sealed interface Shape {
    }

    /**
     * An integer or enumeration; device addresses among them ({@code CUdeviceptr}).
     *
     * @param bytes  1 to 8
     * @param signed whether it is widened with its sign
     */
    public record Number(int bytes, boolean signed) implements Shape {
    }

    /** A float: its bits in the low half of the slot. */
    public record Floating() implements Shape {
    }

    /** A handle of the driver. */
    public record Handle(HandleKind kind) implements Shape {
    }

    /**
     * An address that is only passed on.
     *
     * @param function whether it is a function of the program
     */
    public record Opaque(boolean function) implements Shape {
    }

    /**
     * A structure by value: the slot holds the address of its bytes.
     *
     * @param bytes         its size
     * @param alignment     in bytes
     * @param argumentClass how it is passed (System V psABI 3.2.3): a letter for each eightbyte, {@code i} general register, {@code f} vector register;
     * {@code m} for memory
     */
    public record Structure(int bytes, int alignment, String argumentClass) implements Shape {
    }

    /**
     * A pointer to host memory.
     *
     * @param direction    direction in which its content is passed
     * @param elementBytes size of an element; 1 for bytes of unknown type
     * @param pointers     whether the elements are pointers themselves
     * @param element      the kind of handle that the elements are; empty for others
     * @param extent       number of elements
     */
    public record Pointer(Direction direction, int elementBytes, boolean pointers, Optional<HandleKind> element,
            Extent extent) implements Shape {
    }
}

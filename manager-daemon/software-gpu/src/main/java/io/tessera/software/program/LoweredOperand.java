package io.tessera.software.program;

/** An operand of a lowered instruction. Vectors are flattened: every element is an operand of its own. */
public sealed interface LoweredOperand {
    /**
     * A register.
     *
     * @param registerClass its width
     * @param slot          its number in the function, counted in 64-bit slots over all classes; a 128-bit register
     *                      takes this slot and the next
     * @param negated       true where a predicate is read as {@code !p}
     */
    record Register(RegisterClass registerClass, int slot, boolean negated) implements LoweredOperand {
        /** The register read without negation. */
        public Register plain() {
            return negated ? new Register(registerClass, slot, false) : this;
        }
    }

    /**
     * A constant, already in the form of the type that the instruction reads: raw bits of an f16, f32 or f64,
     * two's complement of an integer cut to the type's width and zero-extended, 0 or 1 for a predicate.
     *
     * @param bits the low 64 bits; the high half of a 128-bit constant is the sign's extension
     */
    record Immediate(long bits) implements LoweredOperand {
    }

    /**
     * An address: the sum of its parts, in the state space that the instruction names. As a source of {@code mov} it means the address itself.
     *
     * @param register      register that holds a base, or null; a 32-bit register is zero-extended
     * @param symbol        variable in global or constant memory, or a function; or null
     * @param frameRelative whether the frame of the running function (an offset into local memory) is added
     * @param offset        bytes to add; holds the whole address of shared variables and kernel parameters
     */
    record Address(Register register, String symbol, boolean frameRelative, long offset) implements LoweredOperand {
    }

    /** A special register, read only; {@code dimension} is 0, 1, 2 for x, y, z, and 0 where there is none. */
    record Special(SpecialRegister register, int dimension) implements LoweredOperand {
    }

    /** A result that is discarded: PTX's {@code _}. */
    record Sink() implements LoweredOperand {
    }

    /** A branch target: index of an instruction of the function, always the first of a basic block. */
    record Target(int instruction) implements LoweredOperand {
    }

    /** A function called by name: index into {@link Kernel#functions()}. */
    record Function(int index) implements LoweredOperand {
    }

    /** A function of the device runtime, called by name. */
    record Runtime(RuntimeFunction function) implements LoweredOperand {
    }

    /** Bytes of the running function's frame that carry an argument or a result of a call. */
    record FrameSlot(int offset, int bytes) implements LoweredOperand {
    }
}

package io.tessera.guardian.fence.instruction;

import java.util.List;

/** Class of an instruction, which determines its fences. Immutable. */
public sealed interface InstructionClass {
    /** Works on registers alone. */
    record Pure() implements InstructionClass {
    }

    /**
     * Accesses memory at its addresses, each with a fixed size.
     *
     * @param accesses in the order of the operands; empty for an instruction that only waits for such accesses
     */
    record Memory(List<Access> accesses) implements InstructionClass {
    }

    /**
     * {@code cp.async}: copies a fixed number of bytes; an operand may limit the bytes that are read.
     *
     * @param accesses          destination and source
     * @param sourceSizeOperand index of that operand (a number of bytes, or a predicate), or -1
     */
    record AsyncCopy(List<Access> accesses, int sourceSizeOperand) implements InstructionClass {
    }

    /**
     * Copies as many bytes as an operand says.
     *
     * @param accesses      its addresses; the length belongs to the first {@code ranges} of them
     * @param ranges        1 or 2
     * @param lengthOperand index of the length
     */
    record Bulk(List<Access> accesses, int ranges, int lengthOperand) implements InstructionClass {
    }

    /**
     * Copies by a tensor map.
     *
     * @param mapOperand index of the operand whose first part is the map's address
     * @param accesses   its other addresses
     */
    record Tensor(int mapOperand, List<Access> accesses) implements InstructionClass {
    }

    /**
     * {@code wmma.load} and {@code wmma.store}: rows at a distance that an operand may give.
     *
     * @param access        the first row
     * @param rows          number of rows
     * @param rowBytes      bytes of a row
     * @param elementBits   size of an element, in which the distance counts
     * @param strideOperand index of the distance, or -1 if rows are contiguous
     */
    record Matrix(Access access, int rows, int rowBytes, int elementBits, int strideOperand)
            implements InstructionClass {
    }

    /**
     * Uses a texture, sampler or surface.
     *
     * @param operand index of the operand whose first part is the handle
     */
    record Handle(int operand) implements InstructionClass {
    }

    /** A hint that is left out. */
    record Dropped() implements InstructionClass {
    }

    /** Branch, call, return, exit, trap. */
    record Control() implements InstructionClass {
    }

    /** A function of several lanes of a warp: its last operand says which. */
    record Warp() implements InstructionClass {
    }

    /** Barrier among threads of a block, with a number and perhaps a count of threads. */
    record Barrier() implements InstructionClass {
    }

    /**
     * Cannot be fenced.
     *
     * @param reason why
     * @param known  whether the instruction is known: then the functions that hold it are refused, else the whole module
     */
    record Refused(String reason, boolean known) implements InstructionClass {
        /** A known one. */
        Refused(String reason) {
            this(reason, true);
        }
    }
}

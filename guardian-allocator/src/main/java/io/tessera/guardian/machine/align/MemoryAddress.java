package io.tessera.guardian.machine.align;

import io.tessera.guardian.machine.code.GlobalForm;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.MachineOpcode;
import java.util.List;

/**
 * An address by which an instruction accesses memory: the sum of a general register, a uniform register and a number. It must be a multiple of a
 * width, or the access ends the context (error 716). Fields were determined with nvdisasm from code for sm_90. Immutable.
 *
 * @param register  the general register, or the low half of a pair; {@link InstructionWord#ZERO_REGISTER}: none
 * @param uniform   likewise; {@link InstructionWord#ZERO_UNIFORM}: none
 * @param immediate the added number
 * @param width     in bytes, a power of two
 * @param changes   whether the general register may be changed so that the address is a multiple of the width
 */
record MemoryAddress(int register, int uniform, int immediate, int width, boolean changes) {
    private static final int NONE = InstructionWord.ZERO_UNIFORM;
    private static final int[] LOADS = {1, 1, 2, 2, 4, 8, 16, 0};
    private static final int[] ATOMICS = {4, 4, 8, 8, 16, 0, 0, 0};
    /** Halves, pairs of them and so on, floats with and without denormal numbers, and doubles. */
    private static final int[] FLOATING_ATOMICS = {4, 8, 16, 4, 8, 16, 0, 0, 0, 4, 8, 16, 4, 8, 16, 8};
    private static final int MATRIX_ROW = 16;
    private static final int FOUR_MATRICES = 2;
    private static final int BARRIER = 8;
    private static final int IMMEDIATE = 40;
    /** A copy to shared memory has 12 bits for its source and 20 for its target. */
    private static final int SOURCE_UNUSED = 20;
    private static final int TARGET = 44;
    private static final long UNIFORM_OPERAND = 1L << 27;

    /**
     * Returns the addresses of an instruction.
     *
     * @return empty if it accesses no memory that must be aligned; null if it does in an unknown way
     */
    static List<MemoryAddress> of(long low, long high, MachineOpcode operation) {
        boolean memory = operation.isGlobal() || operation.kind() == Kind.TENSOR || operation.kind() == Kind.ON_CHIP;
        return memory ? of(InstructionWord.key(low, high), low, high, operation) : List.of();
    }

    private static List<MemoryAddress> of(int key, long low, long high, MachineOpcode operation) {
        int size = (int) (high >>> 9) & 7;
        return switch (operation.name()) {
            case "LDG", "LD", "STG", "ST" -> one(low, high, global(low, high, operation), LOADS[size]);
            case "LDS", "LDL" -> one(low, high, uniform(high, (int) (low >>> 32)), LOADS[size]);
            case "STS", "STL" -> one(low, high, uniform(high, (int) high), LOADS[size]);
            case "LDSM" -> matrices(low, high, (int) (low >>> 32));
            case "STSM" -> matrices(low, high, (int) high);
            case "ATOMS" -> one(low, high, uniform(high, (int) high), ATOMICS[size]);
            case "ATOM", "ATOMG", "REDG" -> one(low, high, global(low, high, operation), atomic(key, high));
            case "LDGSTS" -> copy(low, global(low, high, operation), LOADS[size]);
            case "SYNCS" -> barrier(key == 0x15b2, low, high);
            case "LDC", "ULDC", "CCTL", "UTMACCTL", "UTMAPF", "UTMACMDFLUSH" -> List.of();
            default -> null;
        };
    }

    private static int global(long low, long high, MachineOpcode operation) {
        if (operation.kind() != Kind.GLOBAL) {
            return NONE;
        }
        GlobalForm form = GlobalForm.of(InstructionWord.key(low, high));
        return form.isPlain(low, high) ? NONE : form.uniform(low, high);
    }

    private static int uniform(long high, int field) {
        return (high & UNIFORM_OPERAND) == 0 ? NONE : field & NONE;
    }

    private static int atomic(int key, long high) {
        return switch (key) {
            case 0x19a2, 0x19a3, 0x19a6 -> FLOATING_ATOMICS[(int) (high >>> 9) & 0xf];
            default -> ATOMICS[(int) (high >>> 9) & 7];
        };
    }

    /** An mbarrier. Kernels of cuDNN fail with error 719 on an H100 when its address is rounded before, so that it is only looked at. */
    private static List<MemoryAddress> barrier(boolean ofUniform, long low, long high) {
        int register = ofUniform ? InstructionWord.ZERO_REGISTER : InstructionWord.source(low);
        int uniform = (ofUniform ? InstructionWord.source(low) : (int) high) & NONE;
        return List.of(new MemoryAddress(register, uniform, (int) (low >>> IMMEDIATE), BARRIER, false));
    }

    /**
     * For four matrices, each thread of a warp has the address of a row; for fewer, some threads have other contents there, which must not be
     * changed.
     */
    private static List<MemoryAddress> matrices(long low, long high, int field) {
        return ((int) (high >>> 8) & 3) == FOUR_MATRICES ? one(low, high, uniform(high, field), MATRIX_ROW) : null;
    }

    private static List<MemoryAddress> one(long low, long high, int uniform, int width) {
        return switch (width) {
            case 0 -> null;
            case 1 -> List.of();
            default -> List.of(new MemoryAddress(InstructionWord.source(low), uniform,
                    (int) (low >>> (InstructionWord.hasWideImmediate(low, high) ? Integer.SIZE : IMMEDIATE)), width, true));
        };
    }

    private static List<MemoryAddress> copy(long low, int uniform, int width) {
        int source = (int) (low >>> 32) << SOURCE_UNUSED >> SOURCE_UNUSED;
        return width == 0 ? null
                : List.of(new MemoryAddress(InstructionWord.source(low), uniform, source, width, true),
                        new MemoryAddress(InstructionWord.destination(low), NONE, (int) (low >>> TARGET), width, true));
    }

    /** The known bits of the addend of the general register. */
    private int added(KnownBits known) {
        return LowBits.sum(known.value(KnownBits.UNIFORM + uniform, InstructionWord.ALWAYS), LowBits.number(immediate));
    }

    /** Returns whether it is known to be a multiple of its width where a predicate holds. */
    boolean isAligned(KnownBits known, int predicate) {
        return LowBits.isMultipleOf(LowBits.sum(known.value(register, predicate), added(known)), width);
    }

    /** The general register modulo the width if the address is a multiple of it; -1: not known, or it is not changed. */
    int rest(KnownBits known) {
        int rest = register == InstructionWord.ZERO_REGISTER || !changes ? -1 : LowBits.rest(added(known), width);
        return rest < 0 ? rest : -rest & width - 1;
    }

    /** The general register was changed, if it may be, so that the address is aligned. */
    void round(KnownBits known, int predicate) {
        int rest = rest(known);
        if (rest >= 0 && !isAligned(known, predicate)) {
            known.round(register, predicate, rest, width);
        }
    }
}

package io.tessera.guardian.fence.instruction;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;

/**
 * One address operand of an instruction that accesses memory. Immutable.
 *
 * @param operand        index of the operand that holds it
 * @param place          the space that the instruction names
 * @param kind           kind of the access
 * @param sizeBytes      bytes that are accessed from the address on, without those given by a length operand
 * @param alignmentBytes required alignment of the address; otherwise the GPU faults
 */
public record Access(int operand, Place place, Kind kind, int sizeBytes, int alignmentBytes) {
    /** State spaces as far as fences differ. */
    public enum Place {
        GLOBAL, SHARED, CLUSTER, LOCAL, CONST, PARAM, GENERIC,
        /** A generic address that must be in shared memory ({@code ldmatrix} without a space). */
        GENERIC_SHARED
    }

    /** Kind of an access. */
    public enum Kind {
        READ, WRITE, ATOMIC, PREFETCH
    }

    /** Index of the n-th operand (from 0) that is an address, or -1. */
    public static int address(Instruction instruction, int n) {
        int left = n;
        for (int i = 0; i < instruction.operands().size(); i++) {
            if (instruction.operands().get(i) instanceof Operand.Address && left-- == 0) {
                return i;
            }
        }
        return -1;
    }

    /** The place that a state space's word names. */
    static Place place(String word) {
        return switch (word) {
            case "global" -> Place.GLOBAL;
            case "shared", "shared::cta" -> Place.SHARED;
            case "shared::cluster" -> Place.CLUSTER;
            case "local" -> Place.LOCAL;
            case "const" -> Place.CONST;
            case "param", "param::entry", "param::func" -> Place.PARAM;
            default -> null;
        };
    }

    /** The first place that an instruction names, or GENERIC. */
    static Place place(Instruction instruction) {
        for (String word : instruction.modifiers()) {
            Place place = place(word);
            if (place != null) {
                return place;
            }
        }
        return Place.GENERIC;
    }
}

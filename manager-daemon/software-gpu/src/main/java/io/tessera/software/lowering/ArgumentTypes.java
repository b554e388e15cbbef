package io.tessera.software.lowering;

import io.tessera.software.program.Modifier;
import io.tessera.software.program.Opcode;
import io.tessera.software.program.ValueType;

/** Type in which an instruction reads an argument; constants are cut to it. Stateless. */
final class ArgumentTypes {
    private ArgumentTypes() {
    }

    /**
     * Returns the type of an argument.
     *
     * @param words the words after the opcode
     * @param place number of the argument, addresses and results not counted
     * @param count number of elements of a packing mov
     */
    static ValueType of(Opcode opcode, ModifierSorter words, int place, int count) {
        ValueType first = words.types.isEmpty() ? ValueType.B32 : words.types.getFirst();
        ValueType last = words.types.isEmpty() ? ValueType.B32 : words.types.getLast();
        return switch (opcode) {
            case SHL, SHR, BFE, SZEXT -> place == 0 ? first : ValueType.U32;
            case BFI -> place < 2 ? first : ValueType.U32;
            case BMSK, FNS, LOP3, PRMT, SHF, DP4A, DP2A, BARRIER_SYNC, BARRIER_ARRIVE, BARRIER_RED, WARP_SYNC,
                    NANOSLEEP, CP_ASYNC, CP_ASYNC_BULK_TENSOR_LOAD, CP_ASYNC_BULK_TENSOR_STORE, CP_ASYNC_WAIT, ELECT, PMEVENT, NOP ->
                ValueType.B32;
            case SHFL, MATCH, REDUX -> place == 0 ? first : ValueType.U32;
            case VOTE -> place == 0 ? ValueType.PRED : ValueType.U32;
            case MAD, MAD24 -> place == 2 && words.modifiers.contains(Modifier.WIDE) ? wide(first) : first;
            case SETP -> place < 2 ? last : ValueType.PRED;
            case SET -> place < 2 ? last : ValueType.PRED;
            case SELP -> place < 2 ? first : ValueType.PRED;
            case SLCT -> place < 2 ? first : last;
            case CVT, CVT_PACK -> last;
            case MOV -> count > 1 ? packed(first, count) : first;
            case MBARRIER_INIT, MBARRIER_ARRIVE, MBARRIER_ARRIVE_DROP, MBARRIER_EXPECT_TX, MBARRIER_COMPLETE_TX,
                    MBARRIER_TEST_WAIT, MBARRIER_TRY_WAIT ->
                ValueType.B64;
            default -> last;
        };
    }

    private static ValueType wide(ValueType type) {
        return switch (type) {
            case S16 -> ValueType.S32;
            case U16 -> ValueType.U32;
            case S32 -> ValueType.S64;
            default -> ValueType.U64;
        };
    }

    private static ValueType packed(ValueType type, int count) {
        return switch (type.bits() / count) {
            case 8 -> ValueType.B8;
            case 16 -> ValueType.B16;
            case 32 -> ValueType.B32;
            default -> ValueType.B64;
        };
    }
}

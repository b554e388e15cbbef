package io.tessera.software.interpret;

import io.tessera.software.interpret.pure.CompareOperations;
import io.tessera.software.matrix.WarpSequence;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.Opcode;
import io.tessera.software.program.ValueType;
import java.util.List;

/** Tells instructions with effects beyond one register (memory, control, other threads) from pure ones. Stateless. */
final class InstructionEffects {
    private InstructionEffects() {
    }

    static boolean handles(LoweredInstruction instruction) {
        return switch (instruction.opcode()) {
            case LD, LDU, ST, ATOM, RED, PREFETCH, PREFETCHU, APPLYPRIORITY, DISCARD, CREATEPOLICY, FENCE, CP_ASYNC,
                    CP_ASYNC_BULK_TENSOR_LOAD, CP_ASYNC_BULK_TENSOR_STORE, CP_ASYNC_COMMIT, CP_ASYNC_WAIT,
                    CP_ASYNC_MBARRIER_ARRIVE, MBARRIER_INIT, MBARRIER_INVAL,
                    MBARRIER_ARRIVE, MBARRIER_ARRIVE_DROP, MBARRIER_EXPECT_TX, MBARRIER_COMPLETE_TX,
                    MBARRIER_TEST_WAIT, MBARRIER_TRY_WAIT, MBARRIER_PENDING_COUNT, STACKSAVE, STACKRESTORE, ALLOCA,
                    TEX, TLD4, TXQ, SULD, SUST, SURED, SUQ, MOV, CVTA, ISSPACEP, MAPA, GETCTARANK,
                    SETP, LOP3, ADDC, SUBC, MADC ->
                true;
            case ADD, SUB, MAD -> instruction.has(Modifier.CC);
            default -> isControl(instruction.opcode()) || instruction.opcode().waitsForOthers();
        };
    }

    static boolean isControl(Opcode opcode) {
        return switch (opcode) {
            case BRA, BRX, CALL, CALL_INDIRECT, CALL_RUNTIME, RET, EXIT, TRAP, BRKPT, NANOSLEEP, PMEVENT, NOP,
                    BARRIER_ARRIVE, CLUSTER_ARRIVE, ACTIVEMASK ->
                true;
            default -> false;
        };
    }

    /**
     * Checks forms of instructions with effects that need more than their opcode.
     *
     * @throws UnsupportedOperationException if the form is lacking
     */
    static void check(LoweredInstruction instruction) {
        switch (instruction.opcode()) {
            case ATOM, RED -> MemoryOperations.operation(instruction);
            case TEX, TLD4, TXQ, SULD, SUST, SURED, SUQ -> TextureOperations.check(instruction);
            case CP_ASYNC_BULK_TENSOR_LOAD, CP_ASYNC_BULK_TENSOR_STORE -> TensorCopies.check(instruction);
            case SETP -> CompareOperations.check(instruction);
            case MMA, LDMATRIX, STMATRIX, MOVMATRIX -> WarpSequence.of(List.of(instruction));
            case REDUX -> {
                if (instruction.type().isFloat()) {
                    throw new UnsupportedOperationException(instruction.spelling());
                }
                WaitOperations.reduction(instruction);
            }
            case ADD, SUB, MAD, ADDC, SUBC, MADC -> {
                if (instruction.type().bits() < ValueType.U32.bits()) {
                    throw new UnsupportedOperationException(instruction.spelling());
                }
            }
            default -> {}
        }
    }
}

package io.tessera.software.compile;

import io.tessera.software.compile.flat.NotCompiledException;
import io.tessera.software.execution.BarrierOperation;
import io.tessera.software.execution.StopReason;
import io.tessera.software.execution.ThreadState;
import io.tessera.software.execution.ThreadState.WarpFunction;
import io.tessera.software.execution.WarpOperation;
import io.tessera.software.matrix.WarpSequence;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.Opcode;
import io.tessera.software.program.ValueType;
import java.lang.classfile.CodeBuilder;

/** Emits instructions at which a thread stops: what it asks for, and what it takes from the answer. */
final class StopEmitter {
    private final CodeBuilder code;
    private final Registers registers;
    private final ClassConstants constants;

    StopEmitter(CodeBuilder code, Registers registers, ClassConstants constants) {
        this.code = code;
        this.registers = registers;
        this.constants = constants;
    }

    /**
     * Fills in the request.
     *
     * @param place number that tells this place in the program from others
     * @return the stop that is due
     */
    StopReason ask(LoweredInstruction instruction, int place) {
        switch (instruction.opcode()) {
            case BARRIER_SYNC, BARRIER_RED -> {
                barrier(instruction);
                return StopReason.BARRIER;
            }
            case CLUSTER_WAIT -> {
                return StopReason.CLUSTER;
            }
            case NANOSLEEP -> {
                return StopReason.YIELD;
            }
            case SHFL -> shuffle(instruction);
            case VOTE -> warp(operation(instruction), mask(instruction, 1), instruction.argument(0), 32);
            case MATCH, REDUX -> warp(operation(instruction), instruction.argument(1), instruction.argument(0),
                    instruction.type().bits());
            case WARP_SYNC -> warp(WarpOperation.SYNC, instruction.argument(0), null, 32);
            case ELECT -> warp(WarpOperation.ELECT, instruction.argument(0), null, 32);
            case ACTIVEMASK -> warp(WarpOperation.ACTIVEMASK, mask(instruction, 0), null, 32);
            default -> throw new NotCompiledException(instruction.spelling());
        }
        if (instruction.asksWhoeverIsHere()) {
            code.aload(ReservedLocals.THREAD).loadConstant(place);
            CallEmitter.invokeVirtual(code, ThreadState.class, "askConverged", void.class, int.class);
        }
        return StopReason.WARP;
    }

    /** Returns the mask of members; nothing where the threads that are present take part. */
    private static LoweredOperand mask(LoweredInstruction instruction, int place) {
        return instruction.asksWhoeverIsHere() ? new LoweredOperand.Immediate(0) : instruction.argument(place);
    }

    /** Fills in the request for tensor core instructions; the stop is {@link StopReason#WARP}. */
    void ask(WarpSequence sequence) {
        constants.push(code, sequence, WarpSequence.class);
        code.aload(ReservedLocals.THREAD);
        CallEmitter.invokeVirtual(code, WarpSequence.class, "room", long[].class, ThreadState.class);
        code.astore(ReservedLocals.SAVED);
        for (int slot = 0; slot < sequence.given().size(); slot++) {
            code.aload(ReservedLocals.SAVED).loadConstant(slot);
            registers.pushLong(sequence.given().get(slot));
            code.lastore();
        }
        code.aload(ReservedLocals.THREAD);
        constants.push(code, sequence, WarpSequence.class);
        CallEmitter.invokeVirtual(code, ThreadState.class, "askFunction", StopReason.class, WarpFunction.class);
        code.pop();
    }

    /** After the stop: takes the results. */
    void takeResults(WarpSequence sequence) {
        code.aload(ReservedLocals.THREAD);
        CallEmitter.get(code, ThreadState.class, "values", long[].class);
        code.astore(ReservedLocals.SAVED);
        for (WarpSequence.Result result : sequence.results()) {
            code.aload(ReservedLocals.SAVED).loadConstant(result.slot()).laload();
            registers.popLong(result.register());
        }
    }

    private void barrier(LoweredInstruction instruction) {
        boolean reduces = instruction.opcode() == Opcode.BARRIER_RED;
        int numbers = instruction.arguments().size() - (reduces ? 1 : 0);
        code.aload(ReservedLocals.THREAD);
        pushBarrier(instruction, numbers);
        BarrierOperation operation = BarrierOperation.NONE;
        if (reduces) {
            operation = instruction.has(Modifier.POPC) ? BarrierOperation.POPC
                    : instruction.has(Modifier.AND) ? BarrierOperation.AND : BarrierOperation.OR;
        }
        CallEmitter.push(code, operation);
        if (reduces) {
            registers.pushInt(instruction.argument(numbers));
        } else {
            code.iconst_0();
        }
        CallEmitter.invokeVirtual(code, ThreadState.class, "askBarrier", StopReason.class, int.class, int.class,
                BarrierOperation.class, boolean.class);
        code.pop();
    }

    private void pushBarrier(LoweredInstruction instruction, int numbers) {
        if (numbers > 0) {
            registers.pushInt(instruction.argument(0));
        } else {
            code.iconst_0();
        }
        if (numbers > 1) {
            registers.pushInt(instruction.argument(1));
        } else {
            code.iconst_0();
        }
    }

    /** Emits arrivals that do not wait; false if the instruction is none. */
    boolean arrive(LoweredInstruction instruction) {
        switch (instruction.opcode()) {
            case BARRIER_ARRIVE -> {
                code.aload(ReservedLocals.THREAD);
                pushBarrier(instruction, instruction.arguments().size());
                CallEmitter.invokeVirtual(code, ThreadState.class, "arrive", void.class, int.class, int.class);
            }
            case CLUSTER_ARRIVE -> {
                code.aload(ReservedLocals.THREAD);
                CallEmitter.invokeVirtual(code, ThreadState.class, "arriveCluster", void.class);
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private void shuffle(LoweredInstruction instruction) {
        code.aload(ReservedLocals.THREAD);
        CallEmitter.push(code, operation(instruction));
        registers.pushInt(mask(instruction, 3));
        for (int i = 0; i < 3; i++) {
            registers.pushInt(instruction.argument(i));
        }
        CallEmitter.invokeVirtual(code, ThreadState.class, "askShuffle", StopReason.class, WarpOperation.class, int.class,
                int.class, int.class, int.class);
        code.pop();
    }

    private void warp(WarpOperation operation, LoweredOperand mask, LoweredOperand value, int bits) {
        code.aload(ReservedLocals.THREAD);
        CallEmitter.push(code, operation);
        registers.pushInt(mask);
        if (value == null) {
            code.lconst_0();
        } else if (bits == 64) {
            registers.pushLong(value);
        } else {
            registers.pushInt(value);
            registers.zeroExtend();
        }
        CallEmitter.invokeVirtual(code, ThreadState.class, "askWarp", StopReason.class, WarpOperation.class, int.class,
                long.class);
        code.pop();
    }

    private static WarpOperation operation(LoweredInstruction instruction) {
        return switch (instruction.opcode()) {
            case SHFL -> switch (instruction.firstOf(Modifier.UP, Modifier.DOWN, Modifier.BFLY, Modifier.IDX)) {
                case UP -> WarpOperation.SHFL_UP;
                case DOWN -> WarpOperation.SHFL_DOWN;
                case BFLY -> WarpOperation.SHFL_BFLY;
                case null, default -> WarpOperation.SHFL_IDX;
            };
            case VOTE -> switch (instruction.firstOf(Modifier.ALL, Modifier.ANY, Modifier.UNI, Modifier.BALLOT)) {
                case ALL -> WarpOperation.VOTE_ALL;
                case ANY -> WarpOperation.VOTE_ANY;
                case UNI -> WarpOperation.VOTE_UNI;
                case null, default -> WarpOperation.VOTE_BALLOT;
            };
            case MATCH -> instruction.has(Modifier.ALL) ? WarpOperation.MATCH_ALL : WarpOperation.MATCH_ANY;
            default -> reduction(instruction);
        };
    }

    private static WarpOperation reduction(LoweredInstruction instruction) {
        if (instruction.type().isFloat()) {
            throw new NotCompiledException(instruction.spelling());
        }
        boolean signed = instruction.type() == ValueType.S32;
        return switch (instruction.firstOf(Modifier.ADD, Modifier.MIN, Modifier.MAX, Modifier.AND, Modifier.OR,
                Modifier.XOR)) {
            case ADD -> WarpOperation.REDUX_ADD;
            case MIN -> signed ? WarpOperation.REDUX_MIN_S : WarpOperation.REDUX_MIN_U;
            case MAX -> signed ? WarpOperation.REDUX_MAX_S : WarpOperation.REDUX_MAX_U;
            case AND -> WarpOperation.REDUX_AND;
            case OR -> WarpOperation.REDUX_OR;
            case null, default -> WarpOperation.REDUX_XOR;
        };
    }

    /** After the stop: moves what came of it into the results. */
    void takeResult(LoweredInstruction instruction) {
        if (instruction.results().isEmpty()) {
            return;
        }
        code.aload(ReservedLocals.THREAD);
        CallEmitter.get(code, ThreadState.class, "result", long.class);
        registers.popLong(instruction.result());
        if (instruction.results().size() > 1) {
            code.aload(ReservedLocals.THREAD);
            CallEmitter.get(code, ThreadState.class, "flag", boolean.class);
            registers.popInt(instruction.results().get(1));
        }
    }
}

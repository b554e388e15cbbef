package io.tessera.software.interpret;

import io.tessera.software.execution.BlockState;
import io.tessera.software.execution.DeviceRuntime;
import io.tessera.software.execution.StopReason;
import io.tessera.software.execution.SymbolAddresses;
import io.tessera.software.execution.ThreadProgram;
import io.tessera.software.execution.ThreadState;
import io.tessera.software.fault.FaultKind;
import io.tessera.software.fault.KernelTrap;
import io.tessera.software.interpret.pure.CompareOperations;
import io.tessera.software.interpret.pure.PureOperations;
import io.tessera.software.matrix.WarpSequence;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.program.Function;
import io.tessera.software.program.Kernel;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.Parameter;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** Runs the threads of a kernel instruction by instruction: control flow here, everything else by subject. */
final class InterpretedKernel implements ThreadProgram {
    /** Minimum size of a call on the stack: its return address. */
    private static final int RETURN_BYTES = 16;

    private final Kernel kernel;
    private final SymbolAddresses symbols;
    private final Map<Long, Function> byAddress = new HashMap<>();
    /** The sequence of each tensor core instruction. */
    private final Map<LoweredInstruction, WarpSequence> sequences = new IdentityHashMap<>();

    InterpretedKernel(Kernel kernel, SymbolAddresses symbols) {
        this.kernel = kernel;
        this.symbols = symbols;
        prepare(kernel.entry());
        kernel.functions().forEach(this::prepare);
        kernel.addressable().forEach((name, index) -> byAddress.put(symbols.of(name), kernel.functions().get(index)));
    }

    private void prepare(Function function) {
        for (LoweredInstruction instruction : function.code()) {
            if (WarpSequence.takes(instruction.opcode())) {
                sequences.put(instruction, WarpSequence.of(List.of(instruction)));
            }
        }
    }

    @Override
    public void run(ThreadState[] threads, byte[] status, int first, int end) {
        BlockState block = threads[first].block;
        for (int i = first; i < end; i++) {
            block.running = i;
            threads[i].budget = ThreadState.BUDGET;
            status[i] = resume(threads[i]).status();
        }
    }

    private StopReason resume(ThreadState thread) {
        Frame frame = (Frame) thread.frames;
        if (frame == null) {
            frame = new Frame(kernel.entry(), 0, null, symbols);
            thread.checkStack(frame.top);
        }
        while (true) {
            LoweredInstruction instruction = frame.function.code().get(frame.pc);
            if (!frame.holds(instruction.guard())) {
                frame.pc++;
                continue;
            }
            if (WaitOperations.stops(instruction.opcode())) {
                WarpSequence sequence = sequences.isEmpty() ? null : sequences.get(instruction);
                if (!frame.waiting) {
                    frame.waiting = true;
                    thread.frames = frame;
                    return sequence != null ? MatrixOperations.request(sequence, frame, thread)
                            : WaitOperations.request(instruction, frame, thread);
                }
                frame.waiting = false;
                if (sequence != null) {
                    MatrixOperations.finish(sequence, frame, thread);
                } else {
                    WaitOperations.finish(instruction, frame, thread);
                }
                frame.pc++;
                continue;
            }
            if (!InstructionEffects.isControl(instruction.opcode())) {
                execute(instruction, frame, thread);
                frame.pc++;
                continue;
            }
            Frame next = control(instruction, frame, thread);
            if (next == null) {
                thread.frames = null;
                return StopReason.EXIT;
            }
            frame = next;
            if (thread.budget < 0) {
                thread.frames = frame;
                return StopReason.YIELD;
            }
        }
    }

    static void execute(LoweredInstruction instruction, Frame frame, ThreadState thread) {
        if (!InstructionEffects.handles(instruction)) {
            frame.set(instruction.result(), PureOperations.compute(instruction, arguments(instruction, frame, thread)));
            return;
        }
        switch (instruction.opcode()) {
            case ADD, SUB, ADDC, SUBC, MAD, MADC -> CarryOperations.execute(instruction, frame, thread);
            case SETP -> setPredicates(instruction, frame, thread);
            case LOP3 -> TruthTableOperations.execute(instruction, frame, thread);
            case MOV -> MoveOperations.execute(instruction, frame, thread);
            case CVTA, ISSPACEP, MAPA, GETCTARANK -> AddressOperations.execute(instruction, frame, thread);
            case TEX, TXQ, SULD, SUST, SUQ -> TextureOperations.execute(instruction, frame, thread);
            case STACKSAVE, STACKRESTORE, ALLOCA -> AddressOperations.stack(instruction, frame, thread);
            case CP_ASYNC_BULK_TENSOR_LOAD, CP_ASYNC_BULK_TENSOR_STORE -> TensorCopies.execute(instruction, frame, thread);
            default -> MemoryOperations.execute(instruction, frame, thread);
        }
    }

    private static long[] arguments(LoweredInstruction instruction, Frame frame, ThreadState thread) {
        long[] arguments = new long[instruction.arguments().size()];
        for (int i = 0; i < arguments.length; i++) {
            arguments[i] = frame.argument(thread, instruction, i);
        }
        return arguments;
    }

    private static void setPredicates(LoweredInstruction instruction, Frame frame, ThreadState thread) {
        int predicates = CompareOperations.predicates(instruction, arguments(instruction, frame, thread));
        frame.set(instruction.result(), predicates & 1);
        if (instruction.results().size() > 1) {
            frame.set(instruction.results().get(1), predicates >>> 1);
        }
    }

    /** Moves on to the next instruction to run; null at the thread's end. */
    private Frame control(LoweredInstruction instruction, Frame frame, ThreadState thread) {
        switch (instruction.opcode()) {
            case BRA -> branch(frame, thread, (LoweredOperand.Target) instruction.argument(0));
            case BRX -> {
                long index = frame.argument(thread, instruction, 0);
                if (index >= instruction.arguments().size() - 1) {
                    throw new KernelTrap(FaultKind.INVALID_PC, "brx.idx with index " + index);
                }
                branch(frame, thread, (LoweredOperand.Target) instruction.argument((int) index + 1));
            }
            case CALL -> {
                return enter(kernel.functions().get(((LoweredOperand.Function) instruction.argument(0)).index()), instruction,
                        frame, thread);
            }
            case CALL_INDIRECT -> {
                long address = frame.argument(thread, instruction, 0);
                Function callee = byAddress.get(address);
                if (callee == null) {
                    throw new KernelTrap(FaultKind.INVALID_PC, "call of 0x" + Long.toHexString(address)
                            + ", which is no function");
                }
                return enter(callee, instruction, frame, thread);
            }
            case CALL_RUNTIME -> {
                DeviceRuntime.call(thread, instruction, frame.base);
                frame.pc++;
            }
            case RET -> {
                return leave(frame, thread);
            }
            case EXIT -> {
                return null;
            }
            case TRAP -> throw new KernelTrap(FaultKind.TRAP, "trap, line " + instruction.line());
            case BRKPT -> throw new KernelTrap(FaultKind.TRAP, "brkpt without a debugger, line "
                    + instruction.line());
            case NANOSLEEP -> {
                frame.pc++;
                // Others get a turn; how long that takes is not promised.
                thread.budget = -1;
            }
            case BARRIER_ARRIVE -> {
                thread.arrive((int) frame.argument(thread, instruction, 0),
                        (int) frame.argument(thread, instruction, 1));
                frame.pc++;
            }
            case CLUSTER_ARRIVE -> {
                thread.arriveCluster();
                frame.pc++;
            }
            default -> frame.pc++;
        }
        return frame;
    }

    private static void branch(Frame frame, ThreadState thread, LoweredOperand.Target target) {
        if (target.instruction() <= frame.pc) {
            thread.budget--;
        }
        frame.pc = target.instruction();
    }

    private Frame enter(Function callee, LoweredInstruction call, Frame caller, ThreadState thread) {
        Frame frame = new Frame(callee, caller.top + 15 & -16, caller, symbols);
        thread.checkStack(frame.top);
        // More calls than there are functions are a recursion, which ends where its return addresses would fill the stack.
        thread.checkStack((long) (frame.calls - kernel.functions().size()) * RETURN_BYTES);
        List<Parameter> parameters = callee.parameters();
        if (call.arguments().size() - 1 != parameters.size()) {
            throw new KernelTrap(FaultKind.INVALID_PC, callee.name() + " called with another number of arguments");
        }
        for (int i = 0; i < parameters.size(); i++) {
            copy(thread, caller.base + ((LoweredOperand.FrameSlot) call.argument(i + 1)).offset(),
                    frame.base + parameters.get(i).offset(), parameters.get(i).bytes());
        }
        return frame;
    }

    private static Frame leave(Frame frame, ThreadState thread) {
        Frame caller = frame.caller;
        LoweredInstruction call = caller.function.code().get(caller.pc);
        for (int i = 0; i < call.results().size(); i++) {
            Parameter result = frame.function.results().get(i);
            copy(thread, frame.base + result.offset(), caller.base + ((LoweredOperand.FrameSlot) call.results().get(i))
                    .offset(), result.bytes());
        }
        caller.pc++;
        return caller;
    }

    private static void copy(ThreadState thread, long from, long to, int bytes) {
        RealMemory.copy(thread.localBase + from, thread.localBase + to, bytes);
    }
}

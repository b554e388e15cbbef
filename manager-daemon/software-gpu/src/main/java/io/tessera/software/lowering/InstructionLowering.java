package io.tessera.software.lowering;

import io.tessera.guardian.ptx.TargetList;
import io.tessera.software.program.AddressSpace;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.Opcode;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Lowers one instruction. Used once. */
final class InstructionLowering {
    private static final Set<Opcode> WITHOUT_RESULT = EnumSet.of(Opcode.ST, Opcode.RED, Opcode.PREFETCH,
            Opcode.PREFETCHU, Opcode.APPLYPRIORITY, Opcode.DISCARD, Opcode.FENCE, Opcode.CP_ASYNC,
            Opcode.CP_ASYNC_BULK_TENSOR_LOAD, Opcode.CP_ASYNC_BULK_TENSOR_STORE, Opcode.CP_ASYNC_COMMIT,
            Opcode.CP_ASYNC_WAIT, Opcode.CP_ASYNC_MBARRIER_ARRIVE, Opcode.MBARRIER_INIT,
            Opcode.MBARRIER_INVAL, Opcode.MBARRIER_EXPECT_TX, Opcode.MBARRIER_COMPLETE_TX, Opcode.BARRIER_SYNC,
            Opcode.BARRIER_ARRIVE, Opcode.CLUSTER_ARRIVE, Opcode.CLUSTER_WAIT, Opcode.WARP_SYNC, Opcode.BRA,
            Opcode.BRX, Opcode.RET, Opcode.EXIT, Opcode.TRAP, Opcode.BRKPT, Opcode.NANOSLEEP, Opcode.PMEVENT,
            Opcode.NOP, Opcode.STMATRIX, Opcode.SUST, Opcode.SURED, Opcode.STACKRESTORE);

    private final FunctionBody function;
    private final Scope scope;
    private final io.tessera.guardian.ptx.Instruction written;
    private final OperandLowering operands;
    private final LoweredOperand.Register guard;

    InstructionLowering(FunctionBody function, Scope scope, io.tessera.guardian.ptx.Instruction written) {
        this.function = function;
        this.scope = scope;
        this.written = written;
        this.operands = new OperandLowering(function, scope, written.line());
        this.guard = written.guard().map(g -> {
            LoweredOperand.Register register = operands.registers(g.register().name()).getFirst();
            return new LoweredOperand.Register(register.registerClass(), register.slot(), g.negated());
        }).orElse(null);
    }

    /** Appends the lowered instructions to the function's code. */
    void lower() {
        Opcode opcode = OpcodeTable.of(written.opcode(), written.modifiers());
        if (opcode == null) {
            throw function.unsupported(written.mnemonic(), written.line());
        }
        ModifierSorter words = ModifierSorter.of(opcode, written.modifiers());
        boolean vectorAtomic = (opcode == Opcode.ATOM || opcode == Opcode.RED)
                && (words.modifiers.contains(Modifier.V2) || words.modifiers.contains(Modifier.V4)
                        || words.modifiers.contains(Modifier.V8));
        if (words.unknown != null || vectorAtomic) {
            throw function.unsupported(written.mnemonic(), written.line());
        }
        switch (opcode) {
            case CALL -> new CallLowering(function, scope, written, operands, guard).lower();
            case RET -> function.emitReturn(guard, written.line());
            case BRX -> lowerIndexedBranch(words);
            default -> {
                if (opcode.isVideo()) {
                    lowerVideo(opcode, words);
                } else {
                    lowerPlain(opcode, words);
                }
            }
        }
    }

    private void lowerIndexedBranch(ModifierSorter words) {
        List<LoweredOperand> arguments = new ArrayList<>();
        operands.add(written.operands().getFirst(), io.tessera.software.program.ValueType.U32, arguments);
        String name = ((io.tessera.guardian.ptx.Operand.Symbol) written.operands().get(1)).name();
        TargetList targets = scope.targets(name);
        if (targets == null) {
            throw function.unsupported("branch list " + name + " that is not in scope", written.line());
        }
        for (String target : targets.targets()) {
            arguments.add(new LoweredOperand.Target(scope.label(target)));
        }
        emit(Opcode.BRX, words, List.of(), arguments);
    }

    private void lowerPlain(Opcode opcode, ModifierSorter words) {
        List<io.tessera.guardian.ptx.Operand> source = new ArrayList<>(written.operands());
        if (written.modifiers().contains("L2::cache_hint")) {
            source.removeLast();
        }
        List<LoweredOperand> results = new ArrayList<>();
        if (!WITHOUT_RESULT.contains(opcode) && !source.isEmpty()) {
            operands.add(source.removeFirst(), words.types.isEmpty() ? io.tessera.software.program.ValueType.B32
                    : words.types.getFirst(), results);
        }
        List<LoweredOperand> arguments = new ArrayList<>();
        int place = 0;
        for (io.tessera.guardian.ptx.Operand operand : source) {
            int count = operand instanceof io.tessera.guardian.ptx.Operand.Vector vector
                    ? vector.elements().size() : 1;
            operands.add(operand, ArgumentTypes.of(opcode, words, place, count), arguments);
            if (!(operand instanceof io.tessera.guardian.ptx.Operand.Address)) {
                place++;
            }
        }
        if (words.space == AddressSpace.PARAM) {
            words.space = parameterSpace(arguments);
        }
        emit(opcode, words, results, arguments);
    }

    private void lowerVideo(Opcode opcode, ModifierSorter words) {
        VideoOperands video = new VideoOperands(function, operands, opcode, written);
        emit(opcode, words, video.results(), video.arguments());
    }

    /** Parameters of device functions, and those that a function passes on, are in its frame: local memory. */
    private AddressSpace parameterSpace(List<LoweredOperand> arguments) {
        for (LoweredOperand argument : arguments) {
            if (argument instanceof LoweredOperand.Address address && address.register() == null) {
                return address.frameRelative() ? AddressSpace.LOCAL : AddressSpace.PARAM;
            }
        }
        return function.isEntry() ? AddressSpace.PARAM : AddressSpace.LOCAL;
    }

    private void emit(Opcode opcode, ModifierSorter words, List<LoweredOperand> results, List<LoweredOperand> arguments) {
        function.emit(new LoweredInstruction(opcode, words.types, words.modifiers, words.space, results, arguments, guard,
                written.line(), written.mnemonic()));
    }
}

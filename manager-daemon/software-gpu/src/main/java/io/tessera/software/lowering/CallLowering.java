package io.tessera.software.lowering;

import io.tessera.guardian.ptx.CallPrototype;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.Variable;
import io.tessera.software.program.AddressSpace;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.Opcode;
import io.tessera.software.program.RuntimeFunction;
import io.tessera.software.program.ValueType;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Lowers a call. Arguments and results that are registers or constants go through places in the caller's frame, so that
 * every call copies bytes from frame to frame.
 */
final class CallLowering {
    private final FunctionBody function;
    private final Scope scope;
    private final io.tessera.guardian.ptx.Instruction written;
    private final OperandLowering operands;
    private final LoweredOperand.Register guard;
    private List<io.tessera.guardian.ptx.Operand> returned = List.of();
    private io.tessera.guardian.ptx.Operand callee;
    private List<io.tessera.guardian.ptx.Operand> passed = List.of();
    private String prototype;

    CallLowering(FunctionBody function, Scope scope, io.tessera.guardian.ptx.Instruction written,
            OperandLowering operands, LoweredOperand.Register guard) {
        this.function = function;
        this.scope = scope;
        this.written = written;
        this.operands = operands;
        this.guard = guard;
        for (io.tessera.guardian.ptx.Operand operand : written.operands()) {
            if (operand instanceof io.tessera.guardian.ptx.Operand.Arguments list) {
                if (callee == null) {
                    returned = list.elements();
                } else {
                    passed = list.elements();
                }
            } else if (callee == null) {
                callee = operand;
            } else if (operand instanceof io.tessera.guardian.ptx.Operand.Symbol symbol) {
                prototype = symbol.name();
            }
        }
    }

    void lower() {
        Opcode opcode = Opcode.CALL_INDIRECT;
        LoweredOperand target;
        List<Variable> formals;
        List<Variable> formalResults;
        if (callee instanceof io.tessera.guardian.ptx.Operand.Symbol symbol) {
            PtxFunction called = function.kernel().program().function(symbol.name());
            RuntimeFunction runtime = RuntimeFunction.ofSymbol(symbol.name());
            if (called != null) {
                opcode = Opcode.CALL;
                target = new LoweredOperand.Function(function.kernel().functionIndex(symbol.name()));
                formals = called.parameters();
                formalResults = called.returns();
            } else if (runtime != null) {
                opcode = Opcode.CALL_RUNTIME;
                target = new LoweredOperand.Runtime(runtime);
                formals = List.of();
                formalResults = List.of();
            } else {
                throw function.unsupported("call of the external function " + symbol.name(), written.line());
            }
        } else {
            CallPrototype signature = prototype == null ? null : scope.prototype(prototype);
            if (signature == null) {
                throw function.unsupported("indirect call without a prototype", written.line());
            }
            List<LoweredOperand> pointer = new ArrayList<>();
            operands.add(callee, ValueType.U64, pointer);
            target = pointer.getFirst();
            formals = signature.parameters();
            formalResults = signature.returns();
        }
        emit(opcode, target, formals, formalResults);
    }

    private void emit(Opcode opcode, LoweredOperand target, List<Variable> formals, List<Variable> formalResults) {
        List<LoweredOperand> arguments = new ArrayList<>();
        arguments.add(target);
        for (int i = 0; i < passed.size(); i++) {
            Scope.Place.Frame place = frame(passed.get(i));
            if (place == null) {
                place = store(passed.get(i), formals, i);
            }
            arguments.add(new LoweredOperand.FrameSlot(place.offset(), place.bytes()));
        }
        List<LoweredOperand> results = new ArrayList<>();
        List<LoweredInstruction> loads = new ArrayList<>();
        for (int i = 0; i < returned.size(); i++) {
            Scope.Place.Frame place = frame(returned.get(i));
            if (place == null) {
                ValueType type = formalType(formalResults, i);
                place = function.reserve(type.bytes(), type.bytes());
                List<LoweredOperand> register = new ArrayList<>();
                operands.add(returned.get(i), type, register);
                loads.add(new LoweredInstruction(Opcode.LD, List.of(type), Set.of(), AddressSpace.LOCAL, register,
                        List.of(new LoweredOperand.Address(null, null, true, place.offset())), guard, written.line(),
                        written.mnemonic()));
            }
            results.add(new LoweredOperand.FrameSlot(place.offset(), place.bytes()));
        }
        function.emit(new LoweredInstruction(opcode, List.of(), Set.of(), null, results, arguments, guard, written.line(),
                written.mnemonic()));
        loads.forEach(function::emit);
    }

    /** Place of a parameter variable, or null where a register or constant was written. */
    private Scope.Place.Frame frame(io.tessera.guardian.ptx.Operand operand) {
        return operand instanceof io.tessera.guardian.ptx.Operand.Symbol symbol
                && function.place(scope, symbol.name()) instanceof Scope.Place.Frame frame ? frame : null;
    }

    private Scope.Place.Frame store(io.tessera.guardian.ptx.Operand operand, List<Variable> formals, int number) {
        ValueType type = formalType(formals, number);
        Scope.Place.Frame place = function.reserve(type.bytes(), type.bytes());
        List<LoweredOperand> arguments = new ArrayList<>();
        arguments.add(new LoweredOperand.Address(null, null, true, place.offset()));
        operands.add(operand, type, arguments);
        function.emit(new LoweredInstruction(Opcode.ST, List.of(type), Set.of(), AddressSpace.LOCAL, List.of(), arguments, guard,
                written.line(), written.mnemonic()));
        return place;
    }

    private ValueType formalType(List<Variable> formals, int number) {
        ValueType type = number < formals.size() ? ValueType.ofToken(formals.get(number).type().ptx()) : null;
        if (type == null) {
            throw function.unsupported("argument " + number + " of " + written.mnemonic() + " in a register",
                    written.line());
        }
        return type;
    }
}

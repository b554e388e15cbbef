package io.tessera.software.lowering;

import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.CallPrototype;
import io.tessera.guardian.ptx.Label;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.RegisterDeclaration;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.TargetList;
import io.tessera.guardian.ptx.Variable;
import io.tessera.software.program.Function;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.Opcode;
import io.tessera.software.program.Parameter;
import io.tessera.software.program.RegisterClass;
import io.tessera.software.program.UnsupportedPtxException;
import io.tessera.software.program.ValueType;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Lowers one function: walks its body with scopes, numbers registers and labels, lays out the frame. Used once. */
final class FunctionLowering {
    private static final int FRAME_ALIGN = 16;

    private final KernelLowering kernel;
    private final PtxFunction function;
    private final boolean entry;
    private final List<RegisterClass> slots = new ArrayList<>();
    private final List<LoweredInstruction> code = new ArrayList<>();
    /** Instruction index by label number; -1 until the label is reached. */
    private final List<Integer> labels = new ArrayList<>();
    private final List<Parameter> parameters = new ArrayList<>();
    private final List<Parameter> results = new ArrayList<>();
    /** Registers that device functions of old PTX take and return, with their places in the frame. */
    private final List<Formal> registerResults = new ArrayList<>();
    private Scope scope;
    private int cursor;
    private int frame;

    private record Formal(LoweredOperand.Register register, ValueType type, int offset) {
    }

    FunctionLowering(KernelLowering kernel, PtxFunction function) {
        this.kernel = kernel;
        this.function = function;
        this.entry = function.kind() == PtxFunction.Kind.ENTRY;
        this.scope = new Scope(null);
    }

    Function lower() {
        if (entry) {
            layOutKernelParameters();
        } else {
            function.parameters().forEach(variable -> formal(variable, parameters, false));
            function.returns().forEach(variable -> formal(variable, results, true));
        }
        block(function.body().orElseThrow());
        emitReturn(null, function.line());
        return new CodeLayout(labels).finish(function.name(), parameters, results, slots,
                frame + FRAME_ALIGN - 1 & -FRAME_ALIGN, code);
    }

    private void layOutKernelParameters() {
        int offset = 0;
        for (Variable variable : function.parameters()) {
            offset = offset + variable.alignment() - 1 & -variable.alignment();
            int bytes = Math.toIntExact(variable.sizeBytes());
            parameters.add(new Parameter(variable.name(), offset, bytes, variable.alignment()));
            scope.place(variable.name(), new Scope.Place.KernelParameter(offset));
            offset += bytes;
        }
    }

    private void formal(Variable variable, List<Parameter> into, boolean result) {
        Scope.Place.Frame place = reserve(variable);
        into.add(new Parameter(variable.name(), place.offset(), place.bytes(), variable.alignment()));
        if (variable.space() != StateSpace.REG) {
            scope.place(variable.name(), place);
            return;
        }
        ValueType type = type(variable.type(), variable.line());
        LoweredOperand.Register register = newRegister(type);
        scope.register(variable.name(), List.of(register));
        if (result) {
            registerResults.add(new Formal(register, type, place.offset()));
        } else {
            emit(new LoweredInstruction(Opcode.LD, List.of(type), Set.of(), io.tessera.software.program.AddressSpace.LOCAL,
                    List.of(register), List.of(new LoweredOperand.Address(null, null, true, place.offset())), null,
                    variable.line(), "ld.param"));
        }
    }

    /** Takes a place in the frame. */
    private Scope.Place.Frame reserve(Variable variable) {
        return reserve(Math.toIntExact(variable.sizeBytes()), variable.alignment());
    }

    Scope.Place.Frame reserve(int bytes, int align) {
        cursor = cursor + align - 1 & -align;
        Scope.Place.Frame place = new Scope.Place.Frame(cursor, bytes);
        cursor += bytes;
        frame = Math.max(frame, cursor);
        return place;
    }

    private void block(Block block) {
        scope = new Scope(scope);
        int before = cursor;
        for (Statement statement : block.statements()) {
            if (statement instanceof Label label) {
                scope.label(label.name(), labels.size());
                labels.add(-1);
            } else if (statement instanceof TargetList list) {
                scope.targets(list);
            } else if (statement instanceof CallPrototype prototype) {
                scope.prototype(prototype);
            }
        }
        for (Statement statement : block.statements()) {
            statement(statement);
        }
        // A block's variables end with it, so the next call's arguments take their place.
        cursor = before;
        scope = scope.outer();
    }

    private void statement(Statement statement) {
        switch (statement) {
            case RegisterDeclaration registers -> declare(registers);
            case Variable variable -> declare(variable);
            case Label label -> labels.set(scope.label(label.name()), code.size());
            case io.tessera.guardian.ptx.Instruction instruction ->
                new InstructionLowering(this, scope, instruction).lower();
            default -> {
                // Locations and pragmas hold nothing that runs; prototypes and target lists are in the scope already.
            }
        }
    }

    private void declare(RegisterDeclaration declaration) {
        ValueType type = type(declaration.type(), declaration.line());
        for (int i = 0; i < declaration.count(); i++) {
            scope.register(declaration.prefix() + i, List.of(newRegister(type)));
        }
    }

    private void declare(Variable variable) {
        switch (variable.space()) {
            case SHARED -> scope.place(variable.name(), new Scope.Place.Shared(kernel.shared().offset(variable)));
            case LOCAL, PARAM -> scope.place(variable.name(), reserve(variable));
            default -> throw unsupported("variable in ." + variable.space().ptx(), variable.line());
        }
    }

    private ValueType type(io.tessera.guardian.ptx.ScalarType written, int line) {
        ValueType type = ValueType.ofToken(written.ptx());
        if (type == null) {
            throw unsupported("type ." + written.ptx(), line);
        }
        return type;
    }

    LoweredOperand.Register newRegister(ValueType type) {
        RegisterClass registerClass = RegisterClass.of(type);
        LoweredOperand.Register register = new LoweredOperand.Register(registerClass, slots.size(), false);
        slots.add(registerClass);
        if (registerClass == RegisterClass.BITS128) {
            slots.add(null);
        }
        return register;
    }

    void emit(LoweredInstruction instruction) {
        code.add(instruction);
    }

    /** A return: results that are registers go to the frame first; a kernel's thread ends. */
    void emitReturn(LoweredOperand.Register guard, int line) {
        for (Formal formal : registerResults) {
            emit(new LoweredInstruction(Opcode.ST, List.of(formal.type()), Set.of(),
                    io.tessera.software.program.AddressSpace.LOCAL, List.of(),
                    List.of(new LoweredOperand.Address(null, null, true, formal.offset()), formal.register()), guard, line,
                    "st.param"));
        }
        emit(new LoweredInstruction(entry ? Opcode.EXIT : Opcode.RET, List.of(), Set.of(), null, List.of(), List.of(), guard,
                line, "ret"));
    }

    /** Place of a variable, looked up in scopes and then in the module; null if there is none. */
    Scope.Place place(Scope from, String name) {
        Scope.Place local = from.place(name);
        if (local != null) {
            return local;
        }
        Variable shared = kernel.program().sharedVariable(name);
        if (shared != null) {
            return new Scope.Place.Shared(kernel.shared().offset(shared));
        }
        return kernel.program().variables().containsKey(name) ? new Scope.Place.Module(name) : null;
    }

    KernelLowering kernel() {
        return kernel;
    }

    boolean isEntry() {
        return entry;
    }

    UnsupportedPtxException unsupported(String what, int line) {
        return new UnsupportedPtxException(function.name(), what, line);
    }
}

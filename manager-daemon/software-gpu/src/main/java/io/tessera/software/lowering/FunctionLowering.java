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
import io.tessera.software.program.ValueType;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Lowers one function: walks its body with scopes, numbers registers and labels, lays out the frame. Used once. */
final class FunctionLowering {
    private static final int FRAME_ALIGN = 16;

    private final PtxFunction function;
    private final FunctionBody body;
    /** Instruction index by label number; -1 until the label is reached. */
    private final List<Integer> labels = new ArrayList<>();
    private final List<Parameter> parameters = new ArrayList<>();
    private final List<Parameter> results = new ArrayList<>();
    private Scope scope;

    FunctionLowering(KernelScope kernel, PtxFunction function) {
        this.function = function;
        this.body = new FunctionBody(kernel, function);
        this.scope = new Scope(null);
    }

    Function lower() {
        if (body.isEntry()) {
            layOutKernelParameters();
        } else {
            function.parameters().forEach(variable -> formal(variable, parameters, false));
            function.returns().forEach(variable -> formal(variable, results, true));
        }
        block(function.body().orElseThrow());
        body.emitReturn(null, function.line());
        return new CodeLayout(labels).finish(function.name(), parameters, results, body.slots(),
                body.frameBytes() + FRAME_ALIGN - 1 & -FRAME_ALIGN, body.code());
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
        LoweredOperand.Register register = body.newRegister(type);
        scope.register(variable.name(), List.of(register));
        if (result) {
            body.returns(register, type, place.offset());
        } else {
            body.emit(new LoweredInstruction(Opcode.LD, List.of(type), Set.of(), io.tessera.software.program.AddressSpace.LOCAL,
                    List.of(register), List.of(new LoweredOperand.Address(null, null, true, place.offset())), null,
                    variable.line(), "ld.param"));
        }
    }

    /** Takes a place in the frame. */
    private Scope.Place.Frame reserve(Variable variable) {
        return body.reserve(Math.toIntExact(variable.sizeBytes()), variable.alignment());
    }

    private void block(Block block) {
        scope = new Scope(scope);
        int before = body.mark();
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
        body.release(before);
        scope = scope.outer();
    }

    private void statement(Statement statement) {
        switch (statement) {
            case RegisterDeclaration registers -> declare(registers);
            case Variable variable -> declare(variable);
            case Label label -> labels.set(scope.label(label.name()), body.code().size());
            case io.tessera.guardian.ptx.Instruction instruction ->
                new InstructionLowering(body, scope, instruction).lower();
            default -> {
                // Locations and pragmas hold nothing that runs; prototypes and target lists are in the scope already.
            }
        }
    }

    private void declare(RegisterDeclaration declaration) {
        ValueType type = type(declaration.type(), declaration.line());
        for (int i = 0; i < declaration.count(); i++) {
            scope.register(declaration.prefix() + i, List.of(body.newRegister(type)));
        }
    }

    private void declare(Variable variable) {
        switch (variable.space()) {
            case SHARED -> scope.place(variable.name(), new Scope.Place.Shared(body.kernel().shared().offset(variable)));
            case LOCAL, PARAM -> scope.place(variable.name(), reserve(variable));
            default -> throw body.unsupported("variable in ." + variable.space().ptx(), variable.line());
        }
    }

    private ValueType type(io.tessera.guardian.ptx.ScalarType written, int line) {
        ValueType type = ValueType.ofToken(written.ptx());
        if (type == null) {
            throw body.unsupported("type ." + written.ptx(), line);
        }
        return type;
    }
}

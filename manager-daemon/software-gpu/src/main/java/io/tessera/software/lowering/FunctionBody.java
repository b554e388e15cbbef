package io.tessera.software.lowering;

import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.software.program.AddressSpace;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.Opcode;
import io.tessera.software.program.RegisterClass;
import io.tessera.software.program.UnsupportedPtxException;
import io.tessera.software.program.ValueType;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The code, registers and frame of one function while it is lowered. Used by one thread. */
final class FunctionBody {
    private final KernelScope kernel;
    private final PtxFunction function;
    private final boolean entry;
    private final List<RegisterClass> slots = new ArrayList<>();
    private final List<LoweredInstruction> code = new ArrayList<>();
    /** Registers that a device function of old PTX returns, with their places in the frame. */
    private final List<Formal> registerResults = new ArrayList<>();
    private int cursor;
    private int frame;

    private record Formal(LoweredOperand.Register register, ValueType type, int offset) {
    }

    FunctionBody(KernelScope kernel, PtxFunction function) {
        this.kernel = kernel;
        this.function = function;
        this.entry = function.kind() == PtxFunction.Kind.ENTRY;
    }

    KernelScope kernel() {
        return kernel;
    }

    boolean isEntry() {
        return entry;
    }

    /** Returns the classes of all registers, by their slots. */
    List<RegisterClass> slots() {
        return slots;
    }

    /** Returns the instructions so far. */
    List<LoweredInstruction> code() {
        return code;
    }

    /** Bytes of the frame that were taken at most at once. */
    int frameBytes() {
        return frame;
    }

    /** Takes a place in the frame. */
    Scope.Place.Frame reserve(int bytes, int align) {
        cursor = cursor + align - 1 & -align;
        Scope.Place.Frame place = new Scope.Place.Frame(cursor, bytes);
        cursor += bytes;
        frame = Math.max(frame, cursor);
        return place;
    }

    /** Returns how far the frame is taken now. */
    int mark() {
        return cursor;
    }

    /** Gives back what was taken of the frame since {@link #mark}. */
    void release(int mark) {
        cursor = mark;
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

    /** A register whose value the function returns at that place of its frame. */
    void returns(LoweredOperand.Register register, ValueType type, int offset) {
        registerResults.add(new Formal(register, type, offset));
    }

    void emit(LoweredInstruction instruction) {
        code.add(instruction);
    }

    /** A return: results that are registers go to the frame first; a kernel's thread ends. */
    void emitReturn(LoweredOperand.Register guard, int line) {
        for (Formal formal : registerResults) {
            emit(new LoweredInstruction(Opcode.ST, List.of(formal.type()), Set.of(), AddressSpace.LOCAL, List.of(),
                    List.of(new LoweredOperand.Address(null, null, true, formal.offset()), formal.register()), guard, line,
                    "st.param"));
        }
        emit(new LoweredInstruction(entry ? Opcode.EXIT : Opcode.RET, List.of(), Set.of(), null, List.of(), List.of(), guard,
                line, "ret"));
    }

    /** Place of a variable, looked up in scopes and then in the module; null if there is none. */
    Scope.Place place(Scope from, String name) {
        Scope.Place local = from.place(name);
        return local != null ? local : kernel.place(name);
    }

    UnsupportedPtxException unsupported(String what, int line) {
        return new UnsupportedPtxException(function.name(), what, line);
    }
}

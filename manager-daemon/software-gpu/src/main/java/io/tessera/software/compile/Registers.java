package io.tessera.software.compile;

import io.tessera.software.arithmetic.SingleArithmetic;
import io.tessera.software.compile.flat.InlinedCode;
import io.tessera.software.compile.flat.NotCompiledException;
import io.tessera.software.compile.flat.RegisterKinds;
import io.tessera.software.execution.SymbolAddresses;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.RegisterClass;
import java.lang.classfile.CodeBuilder;
import java.util.BitSet;

/**
 * Moves operands between PTX registers, which are JVM locals, and the operand stack, in the form that an instruction
 * wants: raw bits as int or long, or a float or double.
 */
final class Registers {
    private final CodeBuilder code;
    private final InlinedCode flat;
    private final RegisterKinds kinds;
    private final SymbolAddresses addresses;
    private final int[] locals;
    private final SpecialRegisterEmitter special;
    private int slotBase;
    private long frameBase;

    Registers(CodeBuilder code, InlinedCode flat, RegisterKinds kinds, SymbolAddresses addresses, int firstLocal) {
        this.code = code;
        this.flat = flat;
        this.kinds = kinds;
        this.addresses = addresses;
        this.special = new SpecialRegisterEmitter(code);
        this.locals = new int[flat.registers().size()];
        int next = firstLocal;
        for (int slot = 0; slot < locals.length; slot++) {
            locals[slot] = next;
            next += isWide(slot) ? 2 : 1;
        }
    }

    private boolean isWide(int slot) {
        return kinds.of(slot) == RegisterKinds.Kind.LONG || kinds.of(slot) == RegisterKinds.Kind.DOUBLE;
    }

    /** First local after the registers. */
    int endLocal() {
        int last = locals.length - 1;
        return last < 0 ? 0 : locals[last] + (isWide(last) ? 2 : 1);
    }

    /** Gives every register a value, as the verifier wants. */
    void clearAll() {
        for (int slot = 0; slot < locals.length; slot++) {
            switch (kinds.of(slot)) {
                case INT -> code.iconst_0().istore(locals[slot]);
                case LONG -> code.lconst_0().lstore(locals[slot]);
                case FLOAT -> code.fconst_0().fstore(locals[slot]);
                case DOUBLE -> code.dconst_0().dstore(locals[slot]);
            }
        }
    }

    /** Has operands refer to this place of inlining from now on. */
    void enter(int newSlotBase, long newFrameBase) {
        slotBase = newSlotBase;
        frameBase = newFrameBase;
    }

    /** Offset of the running function's frame in local memory. */
    long frameBase() {
        return frameBase;
    }

    private int slot(LoweredOperand.Register register) {
        return slotBase + register.slot();
    }

    /** Returns whether the operand is a register that lives as {@code float}. */
    boolean isFloat(LoweredOperand operand) {
        return operand instanceof LoweredOperand.Register register && kinds.of(slot(register)) == RegisterKinds.Kind.FLOAT;
    }

    /** Returns whether the operand is a register of more than 32 bits. */
    static boolean isLong(LoweredOperand operand) {
        return operand instanceof LoweredOperand.Register register && register.registerClass().bits() >= 64;
    }

    /** Pushes the low 32 bits. A predicate is 0 or 1, negated if the operand is negated. */
    void pushInt(LoweredOperand operand) {
        switch (operand) {
            case LoweredOperand.Register register -> pushInt(register);
            case LoweredOperand.Immediate immediate -> code.loadConstant((int) immediate.bits());
            case LoweredOperand.Special named -> special.pushInt(named);
            case LoweredOperand.Address address -> {
                pushAddress(address);
                code.l2i();
            }
            default -> throw new NotCompiledException("operand " + operand);
        }
    }

    private void pushInt(LoweredOperand.Register register) {
        int slot = slot(register);
        switch (kinds.of(slot)) {
            case INT -> code.iload(locals[slot]);
            case LONG -> code.lload(locals[slot]).l2i();
            case FLOAT -> {
                code.fload(locals[slot]);
                if (kinds.isLoose(slot)) {
                    CallEmitter.invoke(code, SingleArithmetic.class, "canonical", float.class, float.class);
                }
                CallEmitter.invoke(code, Float.class, "floatToRawIntBits", int.class, float.class);
            }
            case DOUBLE -> {
                code.dload(locals[slot]);
                CallEmitter.invoke(code, Double.class, "doubleToRawLongBits", long.class, double.class);
                code.l2i();
            }
        }
        if (register.negated()) {
            code.iconst_1().ixor();
        }
    }

    /** Pushes 64 bits; a narrower register is zero-extended. */
    void pushLong(LoweredOperand operand) {
        switch (operand) {
            case LoweredOperand.Register register -> {
                int slot = slot(register);
                switch (kinds.of(slot)) {
                    case LONG -> code.lload(locals[slot]);
                    case DOUBLE -> {
                        code.dload(locals[slot]);
                        CallEmitter.invoke(code, Double.class, "doubleToRawLongBits", long.class, double.class);
                    }
                    default -> {
                        pushInt(register);
                        zeroExtend();
                    }
                }
            }
            case LoweredOperand.Immediate immediate -> code.loadConstant(immediate.bits());
            case LoweredOperand.Special named -> special.pushLong(named);
            case LoweredOperand.Address address -> pushAddress(address);
            default -> throw new NotCompiledException("operand " + operand);
        }
    }

    /** Turns the int on the stack into a long without a sign. */
    void zeroExtend() {
        code.i2l().loadConstant(0xffffffffL).land();
    }

    /** Pushes an {@code .f32}; a NaN may have any payload. */
    void pushFloat(LoweredOperand operand) {
        if (operand instanceof LoweredOperand.Register register && kinds.of(slot(register)) == RegisterKinds.Kind.FLOAT) {
            code.fload(locals[slot(register)]);
        } else if (operand instanceof LoweredOperand.Immediate immediate) {
            pushFloat(Float.intBitsToFloat((int) immediate.bits()), (int) immediate.bits());
        } else {
            pushInt(operand);
            CallEmitter.invoke(code, Float.class, "intBitsToFloat", float.class, int.class);
        }
    }

    private void pushFloat(float value, int bits) {
        if (Float.isNaN(value)) {
            code.loadConstant(bits);
            CallEmitter.invoke(code, Float.class, "intBitsToFloat", float.class, int.class);
        } else {
            code.loadConstant(value);
        }
    }

    /** Pushes an {@code .f32}; a NaN has the payload that PTX gives it. */
    void pushExactFloat(LoweredOperand operand) {
        pushFloat(operand);
        if (operand instanceof LoweredOperand.Register register && kinds.isLoose(slot(register))) {
            CallEmitter.invoke(code, SingleArithmetic.class, "canonical", float.class, float.class);
        }
    }

    /** Pushes an {@code .f64}. */
    void pushDouble(LoweredOperand operand) {
        if (operand instanceof LoweredOperand.Register register && kinds.of(slot(register)) == RegisterKinds.Kind.DOUBLE) {
            code.dload(locals[slot(register)]);
        } else if (operand instanceof LoweredOperand.Immediate immediate
                && !Double.isNaN(Double.longBitsToDouble(immediate.bits()))) {
            code.loadConstant(Double.longBitsToDouble(immediate.bits()));
        } else {
            pushLong(operand);
            CallEmitter.invoke(code, Double.class, "longBitsToDouble", double.class, long.class);
        }
    }

    /** Pushes the sum of an address's parts, in its own space. */
    void pushAddress(LoweredOperand.Address address) {
        long constant = address.offset() + (address.frameRelative() ? frameBase : 0)
                + (address.symbol() == null ? 0 : addresses.of(address.symbol()));
        if (address.register() == null) {
            code.loadConstant(constant);
            return;
        }
        if (address.register().registerClass() == RegisterClass.BITS32) {
            // Addresses of 32 bits wrap around there.
            pushInt(address.register());
            if (constant != 0) {
                code.loadConstant((int) constant).iadd();
            }
            zeroExtend();
            return;
        }
        pushLong(address.register());
        if (constant != 0) {
            code.loadConstant(constant).ladd();
        }
    }

    /** Returns the value of an address without a register; null where it has one. */
    Long constantAddress(LoweredOperand.Address address) {
        return address.register() != null || address.symbol() != null ? null
                : (Long) (address.offset() + (address.frameRelative() ? frameBase : 0));
    }

    /** Returns whether a result that is a float register accepts NaNs of any payload. */
    boolean isLoose(LoweredOperand operand) {
        return operand instanceof LoweredOperand.Register register && kinds.isLoose(slot(register));
    }

    /** Pops an int into a register: its bits if the register has 32, or the low 16, or a predicate; zero-extended. */
    void popInt(LoweredOperand operand) {
        if (!(operand instanceof LoweredOperand.Register register)) {
            code.pop();
            return;
        }
        int slot = slot(register);
        switch (kinds.of(slot)) {
            case INT -> {
                if (register.registerClass() == RegisterClass.BITS16) {
                    code.loadConstant(0xffff).iand();
                }
                code.istore(locals[slot]);
            }
            case FLOAT -> {
                CallEmitter.invoke(code, Float.class, "intBitsToFloat", float.class, int.class);
                code.fstore(locals[slot]);
            }
            case LONG, DOUBLE -> {
                zeroExtend();
                popLong(operand);
            }
        }
    }

    /** Pops a long into a register, cut to its width. */
    void popLong(LoweredOperand operand) {
        if (!(operand instanceof LoweredOperand.Register register)) {
            code.pop2();
            return;
        }
        int slot = slot(register);
        switch (kinds.of(slot)) {
            case LONG -> code.lstore(locals[slot]);
            case DOUBLE -> {
                CallEmitter.invoke(code, Double.class, "longBitsToDouble", double.class, long.class);
                code.dstore(locals[slot]);
            }
            default -> {
                code.l2i();
                popInt(operand);
            }
        }
    }

    /** Pops a float into a register. */
    void popFloat(LoweredOperand operand) {
        if (operand instanceof LoweredOperand.Register register && kinds.of(slot(register)) == RegisterKinds.Kind.FLOAT) {
            code.fstore(locals[slot(register)]);
            return;
        }
        CallEmitter.invoke(code, Float.class, "floatToRawIntBits", int.class, float.class);
        popInt(operand);
    }

    /** Pops a double into a register. */
    void popDouble(LoweredOperand operand) {
        if (operand instanceof LoweredOperand.Register register && kinds.of(slot(register)) == RegisterKinds.Kind.DOUBLE) {
            code.dstore(locals[slot(register)]);
            return;
        }
        CallEmitter.invoke(code, Double.class, "doubleToRawLongBits", long.class, double.class);
        popLong(operand);
    }

    /** Saves registers into the long array in a local, from an index on. */
    void save(BitSet slots, int arrayLocal) {
        int index = 0;
        for (int slot = slots.nextSetBit(0); slot >= 0; slot = slots.nextSetBit(slot + 1)) {
            code.aload(arrayLocal).loadConstant(index++);
            switch (kinds.of(slot)) {
                case INT -> code.iload(locals[slot]).i2l();
                case LONG -> code.lload(locals[slot]);
                case FLOAT -> {
                    code.fload(locals[slot]);
                    CallEmitter.invoke(code, Float.class, "floatToRawIntBits", int.class, float.class);
                    code.i2l();
                }
                case DOUBLE -> {
                    code.dload(locals[slot]);
                    CallEmitter.invoke(code, Double.class, "doubleToRawLongBits", long.class, double.class);
                }
            }
            code.lastore();
        }
    }

    /** As {@link #save}, but as raw bits without sign, with canonical NaNs: what the interpreter expects. */
    void export(BitSet slots, int arrayLocal) {
        int index = 0;
        for (int slot = slots.nextSetBit(0); slot >= 0; slot = slots.nextSetBit(slot + 1)) {
            RegisterClass registerClass = flat.registers().get(slot);
            LoweredOperand.Register register = new LoweredOperand.Register(
                    registerClass == null ? RegisterClass.BITS64 : registerClass, slot - slotBase, false);
            code.aload(arrayLocal).loadConstant(index++);
            pushLong(register);
            code.lastore();
        }
    }

    /** Restores what {@link #save} saved. */
    void restore(BitSet slots, int arrayLocal) {
        int index = 0;
        for (int slot = slots.nextSetBit(0); slot >= 0; slot = slots.nextSetBit(slot + 1)) {
            code.aload(arrayLocal).loadConstant(index++).laload();
            switch (kinds.of(slot)) {
                case INT -> code.l2i().istore(locals[slot]);
                case LONG -> code.lstore(locals[slot]);
                case FLOAT -> {
                    code.l2i();
                    CallEmitter.invoke(code, Float.class, "intBitsToFloat", float.class, int.class);
                    code.fstore(locals[slot]);
                }
                case DOUBLE -> {
                    CallEmitter.invoke(code, Double.class, "longBitsToDouble", double.class, long.class);
                    code.dstore(locals[slot]);
                }
            }
        }
    }
}

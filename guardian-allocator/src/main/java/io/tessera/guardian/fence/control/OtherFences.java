package io.tessera.guardian.fence.control;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.KernelReport.Fence;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.instruction.Definitions;
import io.tessera.guardian.fence.plan.BlockCache.Entry;
import io.tessera.guardian.fence.plan.BlockCache.Purpose;
import io.tessera.guardian.fence.plan.FunctionContext;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.fence.text.ReportArea;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Label;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayList;
import java.util.List;

/** Fences of operands that are not addresses: handles, branch indices, sizes. Not thread-safe. */
public final class OtherFences {
    /** Handles in a word of the bitmap. */
    private static final int WORD_BITS = 32;
    /** How many statements are searched for the definition of a register. */
    private static final int LOOK_BACK = 100;

    private final FunctionContext context;
    private final Code code;

    /** Creates the fences of one function. */
    public OtherFences(FunctionContext context) {
        this.context = context;
        this.code = context.code;
    }

    /** A texture or surface instruction whose handles are looked up in the tenant's bitmap, and that never traps. */
    public Instruction handle(Instruction i, int operand) throws FenceRefusedException {
        switch (i.operands().get(operand)) {
            case Operand.Address(Operand.Named(String name), long _) -> reference(i, name);
            case Operand.Address(Operand.Register register, long offset) when offset == 0 -> check(i, register);
            case Operand.CompoundAddress(List<Operand> parts) -> {
                for (Operand part : parts) {
                    switch (part) {
                        case Operand.Symbol(String name, long _) -> reference(i, name);
                        case Operand.Register register -> checkHandle(i, register);
                        case Operand.Vector _ -> {}
                        default -> throw new FenceRefusedException(i.mnemonic(), i.line(), "its handle is not understood");
                    }
                }
            }
            default -> throw new FenceRefusedException(i.mnemonic(), i.line(), "its handle is not understood");
        }
        boolean surface = i.opcode().startsWith("su") && !i.opcode().equals("suq");
        if (surface && !i.has("trap") && !i.has("zero") && !i.has("clamp")) {
            throw new FenceRefusedException(i.mnemonic(), i.line(), "does not say what happens out of bounds");
        }
        context.counts.handle(i.opcode());
        List<String> modifiers = new ArrayList<>(i.modifiers());
        // Out of bounds, .trap would end the shared context; in bounds the two are the same.
        modifiers.replaceAll(m -> m.equals("trap") ? "zero" : m);
        return new Instruction(i.guard(), i.opcode(), modifiers, i.operands(), i.line());
    }

    /** In the operand with a handle, one-dimensional coordinates are 32-bit registers, too. */
    private void checkHandle(Instruction i, Operand.Register register) {
        ScalarType type = context.names.type(register.name());
        if (type == null || type.bits() == 64) {
            check(i, register);
        }
    }

    private void reference(Instruction i, String name) throws FenceRefusedException {
        Variable variable = context.variable(name);
        if (variable == null || variable.type().kind() != ScalarType.Kind.OPAQUE) {
            throw new FenceRefusedException(i.mnemonic(), i.line(), "'" + name + "' is no texture or surface reference");
        }
        context.counts.note("uses the reference " + name);
    }

    private void check(Instruction i, Operand.Register handle) {
        if (context.mode() == FenceMode.NONE
                || context.cache.find(handle, Purpose.HANDLE, 0) != null) {
            return;
        }
        context.counts.fence(Fence.HANDLE);
        Operand.Register table = code.wide();
        Operand.Register low = code.word();
        Operand.Register high = code.word();
        Operand.Register word = code.word();
        Operand.Register bit = code.word();
        Operand.Register offset = code.wide();
        Operand.Register none = code.truth();
        String site = context.sites.site(ReportArea.Kind.HANDLE, i.line(), handle);
        code.emit("ld.const.u64", table, Code.at(new Operand.Named(WindowConstants.NAME), WindowConstants.HANDLES));
        code.emit("setp.eq.u64", none, table, Code.number(0));
        context.sites.branchIf(none, i.guard(), site);
        code.emit("mov.b64", Code.pair(low, high), handle);
        code.emit("and.b32", bit, low, Code.number((1 << WindowConstants.HANDLE_INDEX_BITS) - 1));
        code.emit("shr.u32", word, bit, Code.number(5));
        code.emit("mul.wide.u32", offset, word, Code.number(4));
        code.emit("add.s64", table, table, offset);
        code.emit("ld.global.u32", word, Code.at(table, 0));
        code.emit("and.b32", bit, bit, Code.number(WORD_BITS - 1));
        code.emit("shr.u32", word, word, bit);
        code.emit("and.b32", word, word, Code.number(1));
        Operand.Register foreign = code.truth();
        Operand.Register odd = code.truth();
        code.emit("setp.eq.u32", foreign, word, Code.number(0));
        code.emit("setp.ne.u32", odd, high, Code.number(0));
        code.emit("or.pred", foreign, foreign, odd);
        context.sites.branchIf(foreign, i.guard(), site);
        if (i.guard().isEmpty()) {
            context.cache.put(handle, new Entry(Purpose.HANDLE, 0, handle));
        }
    }

    /** The index of {@code brx.idx}, below the length of its table. */
    public List<Operand> branchIndex(Instruction i) throws FenceRefusedException {
        List<Operand> operands = new ArrayList<>(i.operands());
        int targets = operands.size() == 2 && operands.get(1) instanceof Operand.Symbol(String name, long _)
                ? context.plan.branchTargets(context.function, name) : 0;
        if (targets == 0 || !i.has("idx")) {
            throw new FenceRefusedException(i.mnemonic(), i.line(), "its table of targets is not known");
        }
        context.counts.fence(Fence.BRANCH_INDEX);
        Operand.Register bounded = code.word();
        code.emit("min.u32", bounded, operands.getFirst(), Code.number(targets - 1));
        operands.set(0, bounded);
        return operands;
    }

    /**
     * Returns whether a register holds one of two constants up to a limit. The last instruction that wrote it shows this if control goes straight
     * from there to the rewritten instruction. NVIDIA's assembler can then see which copies are made, and which fill with zeros.
     */
    private boolean isChosen(Operand.Register register, long most) {
        for (int at = context.index - 1; at >= 0 && at >= context.index - LOOK_BACK; at--) {
            Statement statement = context.statements.get(at);
            if (statement instanceof Label) {
                return false;
            }
            if (statement instanceof Instruction writer && Definitions.writes(writer, register)) {
                return writer.opcode().equals("selp") && writer.guard().isEmpty() && writer.operands().size() == 4
                        && writer.type().filter(type -> type.bits() == Integer.SIZE && type.kind() != ScalarType.Kind.FLOAT).isPresent()
                        && isUpTo(writer.operands().get(1), most) && isUpTo(writer.operands().get(2), most);
            }
        }
        return false;
    }

    private static boolean isUpTo(Operand operand, long most) {
        return operand instanceof Operand.Immediate(long value, boolean _) && value >= 0 && value <= most;
    }

    /** The number of bytes that an asynchronous copy reads, at most as many as it writes. */
    public void sourceSize(Instruction i, int operand, long bytes, List<Operand> operands) throws FenceRefusedException {
        if (operand < 0) {
            return;
        }
        if (operands.get(operand) instanceof Operand.Immediate(long value, boolean _)) {
            if (value < 0 || value > bytes) {
                throw new FenceRefusedException(i.mnemonic(), i.line(), "reads " + value + " of " + bytes + " bytes");
            }
            return;
        }
        // A predicate says whether anything is read at all.
        Operand given = operands.get(operand) instanceof Operand.Not(Operand inner) ? inner : operands.get(operand);
        if (!(given instanceof Operand.Register register)) {
            throw new FenceRefusedException(i.mnemonic(), i.line(), "how many bytes it reads is not understood");
        }
        if (context.names.type(register.name()) != ScalarType.PRED && !isChosen(register, bytes)) {
            context.counts.fence(Fence.LENGTH);
            Operand.Register bounded = code.word();
            code.emit("min.u32", bounded, operands.get(operand), Code.number(bytes));
            operands.set(operand, bounded);
        }
    }
}

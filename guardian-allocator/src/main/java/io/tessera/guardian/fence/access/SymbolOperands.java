package io.tessera.guardian.fence.access;

import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.call.RuntimeCalls;
import io.tessera.guardian.fence.instruction.Access;
import io.tessera.guardian.fence.instruction.InstructionClass;
import io.tessera.guardian.fence.plan.FunctionContext;
import io.tessera.guardian.fence.plan.ModulePlan;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.ScalarType;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Replaces names of variables that moved, and of functions, where they are values. Not thread-safe. */
public final class SymbolOperands {
    /** The cooperative launch's workspace: its address comes in two registers of the environment, high half first. */
    private static final String WORKSPACE_HIGH = "%envreg1";
    private static final String WORKSPACE_LOW = "%envreg2";
    private static final Set<String> BEFORE_SPACE = Set.of("weak", "volatile", "relaxed", "acquire", "release", "acq_rel",
            "sc", "mmio", "cta", "cluster", "gpu", "sys");

    private static final Set<String> SHARED_SIZES = Set.of("%dynamic_smem_size", "%total_smem_size");

    private final FunctionContext context;
    private final Code code;

    /** Creates the fence for one function. */
    public SymbolOperands(FunctionContext context) {
        this.context = context;
        this.code = context.code;
    }

    /** An instruction on registers. */
    public void pure(Instruction i) throws FenceRefusedException {
        if (i.opcode().equals("cvta") && context.plan.moved(Access.Place.CONST) && i.has("const")) {
            // Constant memory has become global here, where both kinds of address are the same.
            code.add(new Instruction(i.guard(), "mov", List.of("u64"), values(i), i.line()));
            return;
        }
        code.add(new Instruction(i.guard(), i.opcode(), i.modifiers(), values(i), i.line()));
        if (context.plan.keepsBlocks() && i.opcode().equals("mov")
                && i.operands().getLast() instanceof Operand.SpecialRegister(String name, String _)
                && SHARED_SIZES.contains(name)) {
            Operand size = i.operands().getFirst();
            code.emit(i.guard(), "sub.u32", size, size, Code.number(FencedModule.CLUSTER_BYTES)); // Memory for the cluster wait is not the program's.
        }
    }

    /** Operands with names of what moved replaced by registers or numbers; addresses of accesses are left alone. */
    public List<Operand> values(Instruction i) throws FenceRefusedException {
        List<Operand> operands = null;
        for (int n = 0; n < i.operands().size(); n++) {
            Operand operand = i.operands().get(n);
            Operand replaced = operand instanceof Operand.Register ? operand : value(i, operand);
            if (replaced != operand) {
                operands = operands == null ? new ArrayList<>(i.operands()) : operands;
                operands.set(n, replaced);
            }
        }
        return operands == null ? i.operands() : operands;
    }

    private Operand value(Instruction i, Operand operand) throws FenceRefusedException {
        switch (operand) {
            case Operand.Symbol(String name, long offset) -> {
                return symbol(i, operand, name, offset);
            }
            case Operand.SpecialRegister(String name, String _) -> {
                return name.equals(WORKSPACE_HIGH) || name.equals(WORKSPACE_LOW) ? workspace(name) : operand;
            }
            case Operand.Address(Operand.Named(String name), long offset) when context.plan.classOf(i) instanceof InstructionClass.Pure
                    && context.hoisted(name) -> {
                return Code.at(context.hoistedAddress(name), offset);
            }
            case Operand.Vector(List<Operand> elements) -> {
                List<Operand> replaced = new ArrayList<>(elements.size());
                for (Operand element : elements) {
                    replaced.add(value(i, element));
                }
                return replaced.equals(elements) ? operand : new Operand.Vector(replaced);
            }
            default -> {
                return operand;
            }
        }
    }

    private Operand symbol(Instruction i, Operand operand, String name, long offset) throws FenceRefusedException {
        if (context.names.variable(name) != null) {
            return operand;
        }
        if (context.hoisted(name)) {
            if (i.type().map(ScalarType::bits).orElse(64) != 64) {
                throw new FenceRefusedException(i.mnemonic(), i.line(), "takes the address of '" + name
                        + "' in less than 64 bits");
            }
            return context.plus(context.hoistedAddress(name), offset);
        }
        Long token = context.plan.symbols().token(name);
        return token == null ? operand : Code.number(token + offset);
    }

    /** The grid's workspace lies with the driver; fenced kernels have one in the window. */
    private Operand workspace(String name) throws FenceRefusedException {
        context.plan.useWorkspace();
        Operand.Register address = context.hoistedAddress(ModulePlan.WORKSPACE);
        Operand.Register low = code.word();
        Operand.Register high = code.word();
        code.emit("mov.b64", Code.pair(low, high), address);
        return name.equals(WORKSPACE_HIGH) ? high : low;
    }

    /** Writes a store that passes an address to the driver, with the address made again. */
    public void pass(Instruction store, RuntimeCalls.Passed passed) {
        Operand value = Code.number(0);
        if (passed.variable() != null) {
            Operand.Register start = code.wide();
            Operand.Register generic = code.wide();
            code.emit("mov.u64", start, new Operand.Symbol(passed.variable(), 0));
            code.emit(passed.local() ? "cvta.local.u64" : "cvta.global.u64", generic, start);
            value = context.plus(generic, passed.offset());
        } else {
            Operand.Register none = code.wide();
            code.emit("mov.u64", none, value);
            value = none;
        }
        code.emit("st.param.b64", store.operands().getFirst(), value);
    }

    /** Modifiers of an access that names another space than before, or names one at all. */
    public static List<String> inSpace(List<String> modifiers, Access access, String space) {
        List<String> changed = new ArrayList<>(modifiers);
        if (access.place() == Access.Place.CONST) {
            changed.replaceAll(m -> m.equals("const") ? space : m);
            return changed;
        }
        int at = 0;
        while (at < changed.size() && BEFORE_SPACE.contains(changed.get(at))) {
            at++;
        }
        changed.add(at, space);
        return changed;
    }
}

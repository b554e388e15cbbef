package io.tessera.guardian.fence.control;

import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.KernelReport.Fence;
import io.tessera.guardian.fence.call.PrintedStrings;
import io.tessera.guardian.fence.instruction.CallSite;
import io.tessera.guardian.fence.plan.FunctionContext;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.fence.text.ReportArea;
import io.tessera.guardian.ptx.CallPrototype;
import io.tessera.guardian.ptx.Guard;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.TargetList;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Calls: direct, indirect, and of functions that the driver provides. Not thread-safe. */
public final class CallFence {
    private final FunctionContext context;
    private final Code code;

    /** Creates the fence for one function. */
    public CallFence(FunctionContext context) {
        this.context = context;
        this.code = context.code;
    }

    /** Writes the code in place of a call. */
    public void call(Instruction i) throws FenceRefusedException {
        CallSite site = CallSite.of(i);
        if (site.function() != null) {
            direct(i, site.function());
        } else if (site.target() instanceof Operand.Register target) {
            indirect(i, site, target);
        } else {
            throw refused(i, "what it calls is not understood");
        }
    }

    private static FenceRefusedException refused(Instruction i, String reason) {
        return new FenceRefusedException(i.mnemonic(), i.line(), reason);
    }

    private void direct(Instruction i, String name) throws FenceRefusedException {
        PtxFunction function = context.plan.symbols().function(name);
        if (function == null || function.kind() == PtxFunction.Kind.ENTRY) {
            throw refused(i, "'" + name + "' is no function that can be called");
        }
        if (function.body().isPresent()) {
            context.counts.call(function.name());
            CallSite site = CallSite.of(i);
            add(i, site.returns(), site.target(), site.arguments());
            return;
        }
        Integer text = context.plan.runtime().assertion(i);
        if (text != null) {
            context.counts.fence(Fence.TRAP);
            branch(i, context.sites.site(ReportArea.Kind.ASSERT, i.line(), Code.number(text)));
        } else if (name.equals("vprintf")) {
            context.counts.note("prints");
            PrintedStrings strings = context.plan.runtime().printed(i);
            if (strings != null) {
                write(strings, i.guard());
            }
            code.add(i);
        } else if (context.plan.linked() && !isDrivers(name)) {
            context.counts.note("calls " + name + " of another module");
            code.add(i);
        } else {
            throw refused(i, reason(name));
        }
    }

    /** Names that the driver defines: no module of a tenant defines them, and no fence covers their code. */
    private static boolean isDrivers(String name) {
        return name.equals("malloc") || name.equals("free") || name.startsWith("__assert") || name.startsWith("cuda")
                || name.startsWith("__cuda") || name.startsWith("cnp") || name.startsWith("__cnp");
    }

    private static String reason(String name) {
        return switch (name) {
            case "malloc", "free" -> "'" + name + "' works on a heap that all tenants share";
            case "__assertfail" -> "its arguments are not understood";
            default ->
                name.startsWith("cuda") || name.startsWith("__cudaCDP") ? "'" + name + "' launches or allocates from the device, outside all limits"
                        : "'" + name + "' is defined in no module that is fenced with this one";
        };
    }

    /** Goes to a label when an instruction would run. */
    public void branch(Instruction i, String label) {
        code.emit(i.guard(), "bra", new Operand.Symbol(label, 0));
    }

    private void indirect(Instruction i, CallSite site, Operand.Register target) throws FenceRefusedException {
        if (site.returns().size() > 1) {
            throw refused(i, "it has several results, with which no assembler calls by a pointer");
        }
        Statement signature = site.prototype() == null ? null : context.plan.signature(context.function, site.prototype());
        String dispatcher = switch (signature) {
            case CallPrototype prototype -> context.plan.dispatchers().name(prototype, i.line());
            case TargetList list -> {
                PtxFunction first = context.plan.symbols().function(list.targets().getFirst());
                if (first == null) {
                    throw refused(i, "'" + list.targets().getFirst() + "' is no function");
                }
                yield context.plan.dispatchers().name(first.returns(), first.parameters(), i.line());
            }
            case null, default -> throw refused(i, "the signature of what it calls is not known");
        };
        context.counts.fence(Fence.CALL_TARGET);
        context.counts.call(dispatcher);
        List<Operand> arguments = new ArrayList<>(List.of(target));
        arguments.addAll(site.arguments());
        add(i, site.returns(), new Operand.Symbol(dispatcher, 0), arguments);
    }

    private void add(Instruction i, List<Operand> returns, Operand target, List<Operand> arguments) {
        List<Operand> passed = new ArrayList<>(arguments);
        if (context.plan.passesArena()) {
            passed.add(context.prologue.localStart());
        }
        List<Operand> operands = new ArrayList<>();
        if (!returns.isEmpty()) {
            operands.add(new Operand.Arguments(returns));
        }
        operands.add(target);
        if (!passed.isEmpty()) {
            operands.add(new Operand.Arguments(passed));
        }
        code.add(new Instruction(i.guard(), i.opcode(), i.modifiers(), operands, i.line()));
    }

    /** Writes the code before the call: each pointer becomes one to a private copy. */
    private void write(PrintedStrings strings, Optional<Guard> guard) {
        for (long slot : strings.slots()) {
            Operand.Address argument = Code.at(new Operand.Named(strings.frame()), slot);
            Operand.Register pointer = code.wide();
            code.emit("ld.local.u64", pointer, argument);
            Operand.Register chosen = generic(strings.other());
            for (PrintedStrings.Text text : strings.texts()) {
                Operand.Register inside = code.wide();
                Operand.Register within = code.truth();
                code.emit("sub.s64", inside, pointer, context.hoistedAddress(text.variable()));
                code.emit("setp.lt.u64", within, inside, Code.number(text.bytes()));
                Operand.Register copied = generic(text.copy());
                code.emit("add.s64", copied, copied, inside);
                code.emit("selp.b64", chosen, copied, chosen, within);
            }
            code.emit(guard, "st.local.u64", argument, chosen);
        }
    }

    private Operand.Register generic(String variable) {
        Operand.Register start = code.wide();
        Operand.Register generic = code.wide();
        code.emit("mov.u64", start, new Operand.Symbol(variable, 0));
        code.emit("cvta.global.u64", generic, start);
        return generic;
    }
}

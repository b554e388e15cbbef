package io.tessera.guardian.fence.module;

import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.KernelReport;
import io.tessera.guardian.fence.KernelReport.Fence;
import io.tessera.guardian.fence.TensorMapParameter;
import io.tessera.guardian.fence.access.AccessFence;
import io.tessera.guardian.fence.access.BulkFence;
import io.tessera.guardian.fence.access.GlobalFence;
import io.tessera.guardian.fence.access.Shadows;
import io.tessera.guardian.fence.access.SharedFence;
import io.tessera.guardian.fence.access.SymbolOperands;
import io.tessera.guardian.fence.call.RuntimeCalls;
import io.tessera.guardian.fence.control.BarrierFence;
import io.tessera.guardian.fence.control.CallFence;
import io.tessera.guardian.fence.control.LoopWatch;
import io.tessera.guardian.fence.control.OtherFences;
import io.tessera.guardian.fence.control.WarpFence;
import io.tessera.guardian.fence.instruction.Access;
import io.tessera.guardian.fence.instruction.Definitions;
import io.tessera.guardian.fence.instruction.InstructionClass;
import io.tessera.guardian.fence.plan.FunctionContext;
import io.tessera.guardian.fence.plan.ModulePlan;
import io.tessera.guardian.fence.proof.AddressFacts;
import io.tessera.guardian.fence.proof.Placement;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.fence.text.ReportArea;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Guard;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Label;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.Pragma;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.TargetList;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Rewrites the body of one function. Used once. */
final class FunctionFencer {
    private static final int NO_RETURN_LINE = 0;
    /** Pragmas that stay. Others have the assembler do what fences do not know of: keep spilled registers in shared memory, for one. */
    private static final Set<String> HINTS = Set.of("nounroll");

    private final FunctionContext context;
    private final Code code;
    private final Shadows shadows;
    private final GlobalFence global;
    private final AccessFence accesses;
    private final BulkFence bulk;
    private final OtherFences others;
    private final BarrierFence barriers;
    private final WarpFence members;
    private final CallFence calls;
    private final LoopWatch loops;
    private final SymbolOperands symbols;
    private final List<TensorMapParameter> tensorMaps = new ArrayList<>();

    FunctionFencer(ModulePlan plan, PtxFunction function, int number) {
        this.context = new FunctionContext(plan, function, number);
        this.code = context.code;
        this.shadows = new Shadows(context);
        this.global = new GlobalFence(context, shadows);
        SharedFence shared = new SharedFence(context);
        this.accesses = new AccessFence(context, global, shared);
        this.bulk = new BulkFence(context, accesses, shared);
        this.others = new OtherFences(context);
        this.barriers = new BarrierFence(context);
        this.members = new WarpFence(context);
        this.calls = new CallFence(context);
        this.loops = new LoopWatch(context, plan.watched(function));
        this.symbols = new SymbolOperands(context);
    }

    /** Does it. */
    PtxFunction fence() throws FenceRefusedException {
        PtxFunction function = context.function;
        Block body = function.body().orElseThrow();
        barriers.begin();
        statements(body.statements());
        // Control must not fall through into the code after the body.
        if (!endsItself(body) && returns()) {
            code.emit("ret");
        } else if (!endsItself(body)) {
            fenceReturn(Optional.empty(), NO_RETURN_LINE);
        }
        context.prologue.checkShared(context.sites);
        context.sites.write();
        List<Statement> written = code.leave(new ArrayList<>());
        context.limits.keep(function, context.prologue, written);
        List<Statement> whole = new ArrayList<>(code.declarations());
        int first = 0;
        while (first < written.size() && !(written.get(first) instanceof Instruction || written.get(first) instanceof Label)) {
            first++;
        }
        whole.addAll(written.subList(0, first));
        whole.addAll(context.prologue.statements());
        whole.addAll(written.subList(first, written.size()));
        return new PtxFunction(function.kind(), function.linkage(), function.name(), function.returns(),
                function.parameters(), function.attributes().stream().filter(attribute -> !attribute.name().equals("pragma")).toList(),
                Optional.of(new Block(whole, body.line())), function.line());
    }

    KernelReport report() {
        return context.counts.report(context.function);
    }

    AddressFacts facts() {
        return context.facts;
    }

    List<TensorMapParameter> tensorMaps() {
        return tensorMaps;
    }

    /** Returns whether the function keeps barriers in shared memory. */
    boolean hasNamedBarriers() {
        return context.plan.barriers().hasNamed(context.function);
    }

    boolean usesShared() {
        return context.prologue.usesShared();
    }

    private static boolean endsItself(Block body) {
        return !body.statements().isEmpty() && body.statements().getLast() instanceof Instruction last
                && last.guard().isEmpty() && (last.opcode().equals("ret") || last.opcode().equals("exit"));
    }

    private boolean returns() {
        return context.function.attribute("noreturn").isEmpty();
    }

    private void statements(List<Statement> statements) throws FenceRefusedException {
        context.statements = statements;
        int head = 0;
        for (int i = 0; i < statements.size(); i++) {
            context.index = i;
            Statement statement = statements.get(i);
            head = statement instanceof Label ? i : head;
            if (statement instanceof Instruction branch && loops.repeats(branch)) {
                i = head;
            } else {
                statement(statement);
            }
        }
    }

    private void statement(Statement statement) throws FenceRefusedException {
        switch (statement) {
            case Instruction instruction -> instruction(instruction);
            case Label label -> {
                context.cache.clear();
                loops.before(label);
                shadows.before(label, global.window());
                code.add(label);
                loops.after(label);
            }
            case Pragma pragma -> {
                if (HINTS.containsAll(pragma.values())) {
                    code.add(pragma);
                } else {
                    context.counts.note("left out: pragma " + String.join(", ", pragma.values()));
                }
            }
            // Control transfers of tables only ever lead to labels, where nothing is remembered.
            case TargetList list when list.kind() == TargetList.Kind.CALL -> {}
            default -> code.add(statement);
        }
    }

    private void instruction(Instruction i) throws FenceRefusedException {
        shadows.before(i);
        write(i);
        for (Operand.Register register : Definitions.of(i)) {
            context.cache.written(register);
        }
        members.after(i);
        shadows.after(i, global.window());
        loops.after(i);
    }

    private void write(Instruction i) throws FenceRefusedException {
        switch (context.plan.classOf(i)) {
            case InstructionClass.Pure _ -> symbols.pure(loops.compare(i));
            case InstructionClass.Memory memory -> memory(i, memory.accesses());
            case InstructionClass.AsyncCopy copy -> {
                List<Operand> operands = replaced(i, copy.accesses());
                others.sourceSize(i, copy.sourceSizeOperand(), copy.accesses().getFirst().sizeBytes(), operands);
                code.add(with(i, operands));
            }
            case InstructionClass.Bulk copy -> code.add(with(i, bulk.copy(i, copy)));
            case InstructionClass.Tensor tensor -> tensor(i, tensor);
            case InstructionClass.Matrix matrix -> {
                StateSpace space = context.fact(i, matrix.access().operand()).space().orElse(null);
                code.add(with(i, bulk.matrix(i, matrix, matrix.access().place() == Access.Place.SHARED
                        && space != StateSpace.GLOBAL, space == StateSpace.GLOBAL)));
            }
            case InstructionClass.Handle handle -> code.add(others.handle(i, handle.operand()));
            case InstructionClass.Warp _ -> code.add(with(i, members.operands(i, symbols.values(i))));
            case InstructionClass.Barrier _ -> barriers.write(i);
            case InstructionClass.Dropped _ -> context.counts.note("left out: " + i.mnemonic());
            case InstructionClass.Control _ -> control(i);
            case InstructionClass.Refused(String reason, boolean _) ->
                throw new FenceRefusedException(i.mnemonic(), i.line(), reason);
        }
    }

    private static Instruction with(Instruction i, List<Operand> operands) {
        return new Instruction(i.guard(), i.opcode(), i.modifiers(), operands, i.line());
    }

    private void memory(Instruction i, List<Access> list) throws FenceRefusedException {
        if (context.plan.runtime().drops(i)) {
            return;
        }
        RuntimeCalls.Passed passed = context.plan.runtime().passed(i);
        if (passed != null) {
            symbols.pass(i, passed);
            return;
        }
        List<Operand> operands = new ArrayList<>(symbols.values(i));
        List<String> modifiers = i.modifiers();
        for (Access access : list) {
            AccessFence.Fenced fenced = accesses.fence(i, access);
            operands.set(access.operand(), fenced.address());
            modifiers = fenced.space() == null ? modifiers : SymbolOperands.inSpace(modifiers, access, fenced.space());
        }
        code.add(new Instruction(i.guard(), i.opcode(), modifiers, operands, i.line()));
    }

    private List<Operand> replaced(Instruction i, List<Access> list) throws FenceRefusedException {
        List<Operand> operands = new ArrayList<>(i.operands());
        for (Access access : list) {
            operands.set(access.operand(), accesses.fence(i, access).address());
        }
        return operands;
    }

    private void tensor(Instruction i, InstructionClass.Tensor tensor) throws FenceRefusedException {
        List<Operand> operands = replaced(i, tensor.accesses());
        PtxFunction function = context.function;
        if (context.fact(i, tensor.mapOperand()).placement() instanceof Placement.NearSymbol(String symbol, long low, long high)
                && low == high && function.kind() == PtxFunction.Kind.ENTRY) {
            for (int n = 0; n < function.parameters().size(); n++) {
                if (function.parameters().get(n).name().equals(symbol)) {
                    tensorMaps.add(new TensorMapParameter(function.name(), symbol, n, low));
                    context.counts.note("copies by the tensor map in parameter " + n);
                    code.add(with(i, operands));
                    return;
                }
            }
        }
        throw new FenceRefusedException(i.mnemonic(), i.line(), "its tensor map is not known to be a parameter of the kernel");
    }

    private void control(Instruction i) throws FenceRefusedException {
        switch (i.opcode()) {
            case "call" -> calls.call(i);
            case "trap", "brkpt" -> {
                context.counts.fence(Fence.TRAP);
                calls.branch(i, context.sites.site(ReportArea.Kind.TRAP, i.line(), Code.number(0)));
            }
            case "bra" -> {
                if (!(i.operands().getFirst() instanceof Operand.Symbol)) {
                    throw new FenceRefusedException(i.mnemonic(), i.line(), "where it goes is not known");
                }
                if (!loops.closes(i)) {
                    code.add(loops.redirected(i));
                }
            }
            case "brx" -> {
                List<Operand> operands = others.branchIndex(i);
                loops.before(i);
                code.add(with(i, operands));
            }
            case "ret" -> {
                if (returns()) {
                    code.add(i);
                } else {
                    fenceReturn(i.guard(), i.line());
                }
            }
            default -> code.add(i);
        }
    }

    /** A caller has nothing behind the call of a function that says it does not return. */
    private void fenceReturn(Optional<Guard> guard, int line) {
        code.emit(guard, "bra", new Operand.Symbol(context.sites.site(ReportArea.Kind.RETURNED, line, Code.number(0)), 0));
    }
}

package io.tessera.guardian.fence.control;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.KernelReport;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.loop.LoopBound;
import io.tessera.guardian.fence.loop.LoopParts;
import io.tessera.guardian.fence.loop.Loops;
import io.tessera.guardian.fence.loop.SteadyLoop;
import io.tessera.guardian.fence.plan.FunctionContext;
import io.tessera.guardian.fence.proof.LoopCut;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.ptx.Guard;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Label;
import io.tessera.guardian.ptx.Operand;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Looks at the stop word now and then in loops, and ends the thread when it is set. Not thread-safe. */
public final class LoopWatch {
    private final FunctionContext context;
    private final Code code;
    private final Loops loops;
    private final Map<Instruction, List<LoopCut>> cuts = new IdentityHashMap<>();
    private final Map<Instruction, Operand.Register> limits = new IdentityHashMap<>();
    private final LoopParts parts;
    private Operand.Register fuel;
    /** The loop whose passes are being written: the branch that closes it (null: no loop), the passes written, and the label behind it. */
    private Instruction closing;
    private int written;
    private String behind;
    /** The label of a steady loop's single passes. */
    private String single;

    /** Creates the watch of one function, whose loops are known. */
    public LoopWatch(FunctionContext context, Loops loops) {
        this.context = context;
        this.code = context.code;
        this.loops = loops;
        for (LoopCut cut : cuts(context)) {
            cuts.computeIfAbsent(cut.definition(), d -> new ArrayList<>(1)).add(cut);
            limits.put(cut.comparison(), code.word());
        }
        this.parts = new LoopParts(code, loops);
        if (loops.any()) {
            fuel = code.word();
            context.prologue.write(() -> code.emit("mov.u32", fuel, Code.number(loops.fuel())));
        }
    }

    /**
     * Loops of a tenant that is alone keep their limits: a counter that overflows ends the executor, as a fault does there. With one more
     * register for a limit, the assembler made a loop 14 % slower (H200, bodies of the suite mixes).
     */
    private static List<LoopCut> cuts(FunctionContext context) {
        return context.mode() == FenceMode.NONE ? List.of() : context.facts.loopCuts();
    }

    /**
     * Returns whether a pass of a loop must be written once more before the branch that closes the loop, since one look serves several passes. If so,
     * emits the end of the loop between two passes.
     */
    public boolean repeats(Instruction branch) {
        if (loops.steady(branch) != null) {
            return repeatsSteadily(branch);
        }
        if (written + 1 >= loops.copies(branch)) {
            return false;
        }
        behind = closing == null ? code.newLabel("behind") : behind;
        closing = branch;
        written++;
        Guard guard = branch.guard().orElseThrow();
        code.branch(guard.register(), !guard.negated(), behind);
        return true;
    }

    /**
     * Writes several passes in a row without a test between them, since at least that many are left, and then a single pass for the rest.
     */
    private boolean repeatsSteadily(Instruction branch) {
        int copies = loops.copies(branch);
        if (written == copies) {
            return false;
        }
        closing = branch;
        written++;
        if (written == copies) {
            closes(branch, branch.operands().getFirst());
            code.emit("bra", new Operand.Symbol(behind, 0));
            context.cache.clear();
            code.label(single);
            closing = null;
        }
        return true;
    }

    /** After a label: at the head of a loop whose remaining passes can be counted, branches to the single passes if too few are left. */
    public void after(Label label) {
        Instruction branch = loops.steadyBehind(label.name());
        if (branch == null) {
            return;
        }
        SteadyLoop loop = loops.steady(branch);
        behind = code.newLabel("behind");
        single = code.newLabel("single");
        boolean wide = loop.type().endsWith("64");
        String unsigned = wide ? "u64" : "u32";
        Operand limit = limits.containsKey(loop.compare()) ? limits.get(loop.compare()) : loop.compare().operands().get(2);
        Operand.Register left = wide ? code.wide() : code.word();
        Operand.Register most = wide ? code.wide() : code.word();
        Operand.Register enough = code.truth();
        int more = loops.copies(branch) - 1;
        // The distance to the limit is more than the steps, so that none of them overflows. The step is less than an eighth of all numbers.
        code.emit("sub." + unsigned, left, limit, loop.counter());
        code.emit("mul.lo." + unsigned, most, loop.step(), Code.number(more));
        code.emit("setp.lt." + loop.type(), enough, loop.counter(), limit);
        code.emit("setp.gt.and." + unsigned, enough, left, most, enough);
        code.emit("setp.lt.and." + unsigned, enough, loop.step(), Code.number(1L << (wide ? 61 : 29)), enough);
        code.branch(enough, true, single);
    }

    /**
     * Emits a branch that closes a watched loop: the branch goes back as long as there is fuel. No second back edge is added, since the assembler
     * would make the threads of a warp reconverge in every iteration of a loop with two.
     *
     * @return true if the branch was emitted; any other branch is left to the caller
     */
    public boolean closes(Instruction branch) {
        LoopParts.Part part = parts.closedBy(branch);
        if (part != null) {
            code.add(branch);
            goOn(part, branch);
            return true;
        }
        if (loops.weight(branch) == 0 || !branch.opcode().equals("bra")) {
            return false;
        }
        boolean steady = loops.steady(branch) != null;
        closes(branch, steady ? new Operand.Symbol(single, 0) : redirected(branch).operands().getFirst());
        if (closing != null || steady) {
            context.cache.clear();
            code.label(behind);
            closing = null;
            written = 0;
        }
        return true;
    }

    private void closes(Instruction branch, Operand head) {
        burn(loops.weight(branch));
        Operand.Register on = code.truth();
        if (branch.guard().isEmpty()) {
            code.emit("setp.gt.s32", on, fuel, Code.number(0));
        } else {
            Guard guard = branch.guard().get();
            code.emit("setp.gt.and.s32", on, fuel, Code.number(0),
                    guard.negated() ? new Operand.Not(guard.register()) : guard.register());
        }
        code.emit(Optional.of(new Guard(on, false)), "bra", head);
        exitWithoutFuel();
    }

    /** Behind the rounds of a part: if that was not the loop's end, looks at the stop word, and goes on with the next part. */
    private void goOn(LoopParts.Part part, Instruction branch) {
        String done = code.newLabel("done");
        code.add(ends(part.counted().compare()));
        code.branch(branch.guard().orElseThrow().register(), true, done);
        context.counts.fence(KernelReport.Fence.STOP);
        Operand.Register place = code.wide();
        Operand.Register word = code.word();
        Operand.Register on = code.truth();
        code.emit("ld.const.u64", place, stopWord());
        code.emit("ld.volatile.global.u32", word, Code.at(place, 0));
        code.emit("setp.gt.s32", on, word, Code.number(0));
        code.branch(on, false, part.begin());
        code.emit("exit");
        code.label(done);
    }

    /** Before a label: where it is the head of a loop of parts, how far the next part goes. */
    public void before(Label label) {
        LoopParts.Part part = parts.headedBy(label.name());
        if (part != null) {
            code.label(part.begin());
            parts.begin(part, limits.get(part.counted().compare()));
        }
    }

    /** A branch as it is, or to where the rounds of a part begin. */
    public Instruction redirected(Instruction branch) {
        String begin = branch.operands().getFirst() instanceof Operand.Symbol(String name, long _) ? parts.begins(name) : null;
        return begin == null ? branch : with(branch, List.of(new Operand.Symbol(begin, 0)));
    }

    /** Emits the code before a branch through a table. */
    public void before(Instruction branch) {
        int weight = loops.weight(branch);
        if (weight > 0) {
            burn(weight);
            exitWithoutFuel();
        }
    }

    /** Takes fuel; where there is none left, as much as the stop word gives: nothing once the tenant's kernels have to end. */
    private void burn(int weight) {
        context.counts.fence(KernelReport.Fence.STOP);
        Operand.Register empty = code.truth();
        Operand.Register place = code.wide();
        Optional<Guard> guard = Optional.of(new Guard(empty, false));
        code.emit("sub.s32", fuel, fuel, Code.number(weight));
        code.emit("setp.lt.s32", empty, fuel, Code.number(1));
        code.emit(guard, "ld.const.u64", place, stopWord());
        code.emit(guard, "ld.volatile.global.u32", fuel, Code.at(place, 0));
    }

    private static Operand stopWord() {
        return Code.at(new Operand.Named(WindowConstants.NAME), WindowConstants.STOP_WORD);
    }

    private void exitWithoutFuel() {
        Operand.Register none = code.truth();
        code.emit("setp.lt.s32", none, fuel, Code.number(1));
        code.emit(Optional.of(new Guard(none, false)), "exit");
    }

    /** Cuts the limits that an instruction makes, where the facts say so. */
    public void after(Instruction definition) {
        for (LoopCut cut : cuts.getOrDefault(definition, List.of())) {
            code.emit((cut.upper() ? "min." : "max.") + cut.type(), limits.get(cut.comparison()), cut.limit(),
                    Code.number((int) cut.bound()));
        }
    }

    /** A comparison that ends a counted loop, or a part of its rounds, so that it is certain to; or the instruction itself, as a pass has it. */
    public Instruction compare(Instruction instruction) {
        if (closing != null && !instruction.opcode().equals("setp")) {
            return loops.again(closing, instruction);
        }
        LoopParts.Part part = parts.comparedBy(instruction);
        return part == null ? ends(instruction) : parts.compare(part);
    }

    private Instruction ends(Instruction instruction) {
        Operand.Register within = limits.get(instruction);
        if (within != null) {
            return against(instruction, within);
        }
        LoopBound bound = instruction.opcode().equals("setp") ? loops.bound(instruction) : null;
        if (bound == null || context.mode() == FenceMode.NONE) {
            return instruction;
        }
        return bound.cut() ? against(instruction, LoopParts.cut(code, instruction, bound)) : LoopParts.unequal(code, instruction,
                instruction.operands().get(2), bound);
    }

    private static Instruction against(Instruction compare, Operand limit) {
        List<Operand> operands = new ArrayList<>(compare.operands());
        operands.set(2, limit);
        return with(compare, operands);
    }

    private static Instruction with(Instruction instruction, List<Operand> operands) {
        return new Instruction(instruction.guard(), instruction.opcode(), instruction.modifiers(), operands,
                instruction.line());
    }
}

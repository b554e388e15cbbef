package io.tessera.guardian.fence.control;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.KernelReport.Fence;
import io.tessera.guardian.fence.barrier.BarrierUse;
import io.tessera.guardian.fence.plan.FunctionContext;
import io.tessera.guardian.fence.plan.Prologue;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.fence.text.ReportArea;
import io.tessera.guardian.ptx.Guard;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import java.util.ArrayList;
import java.util.List;

/**
 * Fences of the operands of a block's barriers: an existing number, a count of whole warps that the block has, and the same values in all
 * lanes that come together. A GPU ends the context for lanes that disagree (seen on an H200: an illegal instruction), so in a legal program
 * they agree, and taking the first lane's operand changes nothing. Not thread-safe.
 */
public final class BarrierFence {
    private static final int LARGEST_BLOCK = 1024;
    /** Whole warps. */
    private static final int WARPS_MASK = 0x7E0;

    private final FunctionContext context;
    private final Code code;
    private final NamedBarriers kept;
    private final boolean mixed;
    private Operand.Register lanes;
    private Operand.Register first;

    /** Creates the fence for one function. */
    public BarrierFence(FunctionContext context) {
        this.context = context;
        this.code = context.code;
        this.kept = new NamedBarriers(context);
        this.mixed = context.mode() != FenceMode.NONE && context.plan.mixesBarriers(context.function);
    }

    /** Writes the code that a function runs before it meets a barrier. */
    public void begin() {
        if (context.function.kind() == PtxFunction.Kind.ENTRY && context.plan.barriers().hasNamed(context.function)) {
            kept.clear();
        }
    }

    /** Writes a barrier, fenced. */
    public void write(Instruction i) throws FenceRefusedException {
        if (context.plan.barriers().isNamed(context.function, i)) {
            wholeWarp(i);
            List<Operand> numbers = BarrierUse.numbers(i);
            // All lanes have the same numbers: those that do not have ended.
            Operand number = bounded(i, numbers.getFirst(), false);
            kept.write(i, number, BarrierUse.isCounted(i) ? ofBlock(bounded(i, numbers.getLast(), true)) : context.prologue.blockThreads());
        } else {
            code.add(new Instruction(i.guard(), i.opcode(), i.modifiers(), operands(i), i.line()));
        }
    }

    private List<Operand> operands(Instruction i) throws FenceRefusedException {
        List<Operand> operands = new ArrayList<>(i.operands());
        int number = BarrierUse.first(i);
        lanes = null;
        if (mixed) {
            wholeWarp(i);
        }
        if (operands.size() > number) {
            operands.set(number, bounded(i, operands.get(number), false));
        }
        if (BarrierUse.isCounted(i)) {
            operands.set(number + 1, ofBlock(bounded(i, operands.get(number + 1), true)));
        }
        return operands;
    }

    /**
     * Ends lanes that arrive without the other lanes of their warp, or while other lanes are at another barrier. The lanes of a legal program arrive
     * together. If lanes meet in different places, a device either lets them exchange their values or sees neither side as a whole warp. Both cases
     * are detected here, before any lane waits.
     */
    private void wholeWarp(Instruction i) {
        context.counts.fence(Fence.WHOLE_WARP);
        List<Operand> numbers = BarrierUse.numbers(i);
        Operand.Register all = context.prologue.warpLanes();
        Operand.Register barrier = code.word();
        Operand.Register others = code.word();
        Operand.Register here = code.word();
        Operand.Register same = code.truth();
        Operand.Register alone = code.truth();
        code.emit("mov.u32", barrier, numbers.getFirst());
        if (numbers.size() > 1) {
            Operand.Register count = code.word();
            code.emit("mov.u32", count, numbers.get(1));
            code.emit("mad.lo.u32", barrier, count, Code.number(NamedBarriers.BARRIERS), barrier);
        }
        code.emit(i.guard(), "shfl.sync.idx.b32", others, barrier, Code.number(0), Code.number(Prologue.WARP - 1), all);
        code.emit("setp.eq.u32", same, others, barrier);
        code.emit(i.guard(), "vote.sync.ballot.b32", here, same, all);
        code.emit("setp.ne.u32", alone, here, all);
        context.sites.branchIf(alone, i.guard(), context.sites.narrow(ReportArea.Kind.BARRIER, i.line(), here));
    }

    private Operand bounded(Instruction i, Operand operand, boolean threads) throws FenceRefusedException {
        if (operand instanceof Operand.Immediate(long value, boolean _)) {
            boolean valid = threads ? value > 0 && value % Prologue.WARP == 0 && value <= LARGEST_BLOCK : value >= 0
                    && value < NamedBarriers.BARRIERS;
            if (!valid) {
                throw new FenceRefusedException(i.mnemonic(), i.line(), value + (threads ? " threads" : " is no barrier"));
            }
            return operand;
        }
        context.counts.fence(Fence.BARRIER);
        boolean named = context.plan.barriers().isNamed(context.function, i);
        if (!named && lanes == null) {
            chooseLane(i);
        }
        Operand.Register bounded = code.word();
        if (named) {
            code.emit("mov.u32", bounded, operand);
        } else {
            code.emit("shfl.sync.idx.b32", bounded, operand, first, Code.number(Prologue.WARP - 1), lanes);
        }
        code.emit("and.b32", bounded, bounded, Code.number(threads ? WARPS_MASK : NamedBarriers.BARRIERS - 1));
        if (threads) {
            code.emit("min.u32", bounded, bounded, Code.number(LARGEST_BLOCK));
            code.emit("max.u32", bounded, bounded, Code.number(Prologue.WARP));
        }
        return bounded;
    }

    /** More threads than the block has never come. */
    private Operand ofBlock(Operand threads) {
        if (context.mode() == FenceMode.NONE || threads.equals(Code.number(Prologue.WARP))) {
            return threads;
        }
        context.counts.fence(Fence.BARRIER);
        Operand.Register bounded = code.word();
        code.emit("min.u32", bounded, context.prologue.blockThreads(), threads);
        return bounded;
    }

    /** The lanes that are here together, and the first of them for which the instruction is made. */
    private void chooseLane(Instruction i) {
        lanes = code.word();
        first = code.word();
        code.emit("activemask.b32", lanes);
        Operand.Register making = lanes;
        if (i.guard().isPresent()) {
            Guard guard = i.guard().get();
            Operand.Register made = code.word();
            Operand.Register truth = code.truth();
            making = code.word();
            code.emit("selp.u32", made, Code.number(guard.negated() ? 0 : 1), Code.number(guard.negated() ? 1 : 0),
                    guard.register());
            code.emit("setp.ne.u32", truth, made, Code.number(0));
            code.emit("vote.sync.ballot.b32", making, truth, lanes);
        }
        code.emit("brev.b32", first, making);
        code.emit("clz.b32", first, first);
        // If no lane executes it, the result does not matter, and any lane will do.
        code.emit("and.b32", first, first, Code.number(Prologue.WARP - 1));
    }
}

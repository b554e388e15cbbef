package io.tessera.guardian.fence;

import io.tessera.guardian.fence.KernelReport.Fence;
import io.tessera.guardian.ptx.Guard;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import java.util.ArrayList;
import java.util.List;

/**
 * Fences of the operands of barriers of a block: a number that there is, a count of whole warps, and both the same in all
 * lanes that come together. A GPU ends the context for lanes that disagree (seen on an H200: an illegal instruction), so
 * in a legal program they agree, and taking the first lane's operand changes nothing. Not thread-safe.
 */
final class BarrierFence {
    private static final int BARRIERS = 16;
    private static final int WARP = 32;
    private static final int LARGEST_BLOCK = 1024;
    /** Whole warps. */
    private static final int WARPS_MASK = 0x7E0;

    private final FunctionContext context;
    private final Code code;
    private Operand.Register lanes;
    private Operand.Register first;

    BarrierFence(FunctionContext context) {
        this.context = context;
        this.code = context.code;
    }

    /** The operands of a barrier, fenced. */
    List<Operand> operands(Instruction i) throws FenceRefusedException {
        List<Operand> operands = new ArrayList<>(i.operands());
        int number = i.has("red") ? 1 : 0;
        boolean counted = i.has("red") ? operands.size() == 4 : operands.size() == 2;
        lanes = null;
        if (operands.size() > number) {
            operands.set(number, bounded(i, operands.get(number), false));
        }
        if (counted) {
            operands.set(number + 1, bounded(i, operands.get(number + 1), true));
        }
        return operands;
    }

    private Operand bounded(Instruction i, Operand operand, boolean threads) throws FenceRefusedException {
        if (operand instanceof Operand.Immediate(long value, boolean _)) {
            boolean valid = threads ? value > 0 && value % WARP == 0 && value <= LARGEST_BLOCK : value >= 0
                    && value < BARRIERS;
            if (!valid) {
                throw new FenceRefusedException(i.mnemonic(), i.line(), value + (threads ? " threads" : " is no barrier"));
            }
            return operand;
        }
        context.counts.fence(Fence.BARRIER);
        if (lanes == null) {
            chooseLane(i);
        }
        Operand.Register bounded = code.word();
        code.emit("shfl.sync.idx.b32", bounded, operand, first, Code.number(WARP - 1), lanes);
        code.emit("and.b32", bounded, bounded, Code.number(threads ? WARPS_MASK : BARRIERS - 1));
        if (threads) {
            code.emit("min.u32", bounded, bounded, Code.number(LARGEST_BLOCK));
            code.emit("max.u32", bounded, bounded, Code.number(WARP));
        }
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
        // With nobody to make it, what comes out does not matter: then any lane will do.
        code.emit("and.b32", first, first, Code.number(WARP - 1));
    }
}

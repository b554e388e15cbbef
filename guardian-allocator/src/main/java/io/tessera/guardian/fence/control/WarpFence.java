package io.tessera.guardian.fence.control;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.KernelReport.Fence;
import io.tessera.guardian.fence.plan.BlockCache.Entry;
import io.tessera.guardian.fence.plan.BlockCache.Purpose;
import io.tessera.guardian.fence.plan.FunctionContext;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import java.util.ArrayList;
import java.util.List;

/**
 * Fences member masks, which name the lanes of a warp that execute an operation together: the executing lane is added to the mask. A GPU ends the
 * context if a lane is not a member of its own mask (seen on an H200); in a legal program it always is, and nothing changes. To a mask that is a
 * constant, the lanes that are here together are added, too. Programs let a whole warp exchange values with the mask of its lower half, which a GPU
 * allows, and lanes with different masks would wait for each other forever. A mask in a register may be another one in each group of lanes, as those of
 * parts of a warp that work by themselves: added lanes of another group would make the groups wait for each other, at different barriers. Not thread-safe.
 */
public final class WarpFence {
    private static final long ALL_LANES = 0xFFFF_FFFFL;

    private final FunctionContext context;
    private final Code code;

    /** Creates the fence for one function. */
    public WarpFence(FunctionContext context) {
        this.context = context;
        this.code = context.code;
    }

    /** Operands of an instruction whose last one is a member mask, fenced. */
    public List<Operand> operands(Instruction i, List<Operand> given) {
        if (given.isEmpty() || context.mode() == FenceMode.NONE) {
            return given;
        }
        Operand mask = given.getLast();
        Long constant = context.trace.constant(mask);
        // Without proofs, a register is fenced whatever was written to it: there may be another path to this instruction.
        boolean certain = mask instanceof Operand.Immediate || context.plan.proves(context.function);
        if (certain && constant != null && (constant & ALL_LANES) == ALL_LANES) {
            return given;
        }
        boolean together = i.guard().isEmpty() && constant != null;
        List<Operand> operands = new ArrayList<>(given);
        operands.set(given.size() - 1, fenced(mask, together ? Purpose.MEMBERS_TOGETHER : Purpose.MEMBERS));
        return operands;
    }

    private Operand.Register fenced(Operand mask, Purpose purpose) {
        Entry known = mask instanceof Operand.Register register ? context.cache.find(register, purpose, 0) : null;
        if (known != null) {
            return known.fenced();
        }
        context.counts.fence(Fence.MEMBERS);
        Operand members = mask;
        if (purpose == Purpose.MEMBERS_TOGETHER) {
            Operand.Register lanes = code.word();
            Operand.Register both = code.word();
            code.emit("activemask.b32", lanes);
            code.emit("or.b32", both, lanes, mask);
            members = both;
        }
        Operand.Register own = context.prologue.ownLane();
        Operand.Register fenced = code.word();
        code.emit("or.b32", fenced, own, members);
        if (mask instanceof Operand.Register register) {
            context.cache.put(register, new Entry(purpose, 0, fenced));
        }
        return fenced;
    }

    /** After an instruction: compilers put the mask of all lanes into a register at times. */
    public void after(Instruction i) {
        if (i.opcode().equals("mov") && i.guard().isEmpty() && i.operands().size() == 2
                && i.operands().get(0) instanceof Operand.Register register
                && i.operands().get(1) instanceof Operand.Immediate(long value, boolean _)
                && (value & ALL_LANES) == ALL_LANES) {
            context.cache.put(register, new Entry(Purpose.MEMBERS, 0, register));
            context.cache.put(register, new Entry(Purpose.MEMBERS_TOGETHER, 0, register));
        }
    }
}

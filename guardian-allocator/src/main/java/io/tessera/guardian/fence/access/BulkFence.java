package io.tessera.guardian.fence.access;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.KernelReport.Fence;
import io.tessera.guardian.fence.instruction.Access;
import io.tessera.guardian.fence.instruction.Access.Place;
import io.tessera.guardian.fence.instruction.InstructionClass;
import io.tessera.guardian.fence.plan.FunctionContext;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import java.util.ArrayList;
import java.util.List;

/** Fences copies with a length, and matrix loads and stores with a distance between rows. Not thread-safe. */
public final class BulkFence {
    /** Lengths and addresses of bulk copies are multiples of this. */
    private static final int UNIT = 16;
    /**
     * Greatest distance between rows, in elements: 32 rows of 8 bytes at this distance stay within half a guard band.
     */
    private static final long MOST_STRIDE = (1L << 25) - 1;

    private final FunctionContext context;
    private final Code code;
    private final AccessFence accesses;
    private final SharedFence shared;

    /** Creates the fence for one function; addresses are fenced like those of its other accesses. */
    public BulkFence(FunctionContext context, AccessFence accesses, SharedFence shared) {
        this.context = context;
        this.code = context.code;
        this.accesses = accesses;
        this.shared = shared;
    }

    /**
     * Operands of a bulk copy. In global memory a length of 32 bits ends inside the guard band; in shared memory both the
     * address and the length are cut.
     */
    public List<Operand> copy(Instruction i, InstructionClass.Bulk bulk) throws FenceRefusedException {
        List<Operand> operands = new ArrayList<>(i.operands());
        Operand length = length(i, operands.get(bulk.lengthOperand()));
        for (int n = 0; n < bulk.accesses().size(); n++) {
            Access access = bulk.accesses().get(n);
            boolean inShared = access.place() == Place.SHARED || access.place() == Place.CLUSTER;
            if (n >= bulk.ranges() || !inShared || context.mode() == FenceMode.NONE) {
                operands.set(access.operand(), accesses.fence(i, access).address());
                continue;
            }
            context.counts.access(i.opcode(), Access.Place.SHARED);
            Operand.Register start = word((Operand.Address) operands.get(access.operand()));
            Operand.Register inside = access.place() == Place.CLUSTER ? shared.clusterClamped(i, start, UNIT, UNIT, null)
                    : clamped(i, start, UNIT, UNIT);
            // In another block, the distance to the end is the same as from the same offset in this block.
            length = cut(length, access.place() == Place.CLUSTER ? offsetInBlock(inside) : inside);
            operands.set(access.operand(), Code.at(inside, 0));
        }
        operands.set(bulk.lengthOperand(), length);
        return operands;
    }

    private Operand length(Instruction i, Operand length) throws FenceRefusedException {
        if (length instanceof Operand.Immediate(long value, boolean _)) {
            if (value % UNIT != 0 || value < 0 || value > Integer.MAX_VALUE) {
                throw new FenceRefusedException(i.mnemonic(), i.line(), "copies " + value + " bytes, no multiple of 16");
            }
            return length;
        }
        context.counts.fence(Fence.LENGTH);
        Operand.Register whole = code.word();
        code.emit("and.b32", whole, length, Code.number(-UNIT));
        return whole;
    }

    private Operand.Register word(Operand.Address address) {
        Operand.Register word = context.word(address.base());
        if (address.offsetBytes() == 0) {
            return word;
        }
        Operand.Register sum = code.word();
        code.emit("add.u32", sum, word, Code.number((int) address.offsetBytes()));
        return sum;
    }

    /** An address of the own block with this many bytes behind it. */
    private Operand.Register clamped(Instruction i, Operand.Register address, int bytes, int alignment) {
        Operand.Register limit = shared.limit(i, bytes, alignment, address);
        Operand.Register clamped = code.word();
        code.emit("min.u32", clamped, address, limit);
        if (context.plan.clusters()) {
            code.emit("max.u32", clamped, clamped, context.prologue.sharedBase());
        }
        code.emit("and.b32", clamped, clamped, Code.number(-alignment));
        return clamped;
    }

    private Operand.Register offsetInBlock(Operand.Register address) {
        Operand.Register rank = code.word();
        Operand.Register there = code.word();
        Operand.Register offset = code.word();
        Operand.Register own = code.truth();
        code.emit("getctarank.shared::cluster.u32", rank, address);
        code.emit("mapa.shared::cluster.u32", there, context.prologue.sharedStart(), rank);
        code.emit("sub.u32", offset, address, there);
        code.emit("add.u32", offset, offset, context.prologue.sharedStart());
        Operand.Register above = code.truth();
        code.emit("setp.lt.u32", own, address, context.sharedEnd());
        code.emit("setp.ge.u32", above, address, context.prologue.sharedBase());
        code.emit("and.pred", own, own, above);
        code.emit("selp.b32", offset, address, offset, own);
        return offset;
    }

    private Operand cut(Operand length, Operand.Register start) {
        Operand.Register left = code.word();
        Operand.Register cut = code.word();
        code.emit("sub.u32", left, context.sharedEnd(), start);
        code.emit("and.b32", left, left, Code.number(-UNIT));
        if (length instanceof Operand.Immediate) {
            code.emit("mov.u32", cut, length);
            code.emit("min.u32", cut, cut, left);
        } else {
            code.emit("min.u32", cut, length, left);
        }
        context.counts.fence(Fence.LENGTH);
        return cut;
    }

    /** Operands of a matrix load or store. */
    public List<Operand> matrix(Instruction i, InstructionClass.Matrix matrix, boolean sharedMemory, boolean global)
            throws FenceRefusedException {
        List<Operand> operands = new ArrayList<>(i.operands());
        Access access = matrix.access();
        if (context.mode() == FenceMode.NONE) {
            operands.set(access.operand(), accesses.fence(i, access).address());
            return operands;
        }
        if (sharedMemory) {
            sharedRows(i, matrix, operands);
            return operands;
        }
        if (access.place() == Access.Place.GENERIC && !global && context.plan.genericMayBeOther()) {
            // The memory between its rows would have to end with the memory that it is in.
            throw new FenceRefusedException(i.mnemonic(), i.line(), "whether its address is of global or of shared memory is not known");
        }
        operands.set(access.operand(), accesses.fence(i, access).address());
        if (matrix.strideOperand() >= 0) {
            operands.set(matrix.strideOperand(), stride(i, matrix, operands.get(matrix.strideOperand())));
        }
        return operands;
    }

    private Operand stride(Instruction i, InstructionClass.Matrix matrix, Operand stride) throws FenceRefusedException {
        long unit = Math.max(1, 8L * UNIT / matrix.elementBits());
        if (stride instanceof Operand.Immediate(long value, boolean _)) {
            if (value < 0 || value > MOST_STRIDE || value % unit != 0) {
                throw new FenceRefusedException(i.mnemonic(), i.line(), "rows at a distance of " + value + " elements");
            }
            return stride;
        }
        context.counts.fence(Fence.LENGTH);
        Operand.Register cut = code.word();
        code.emit("min.u32", cut, stride, Code.number(MOST_STRIDE));
        code.emit("and.b32", cut, cut, Code.number(-unit));
        return cut;
    }

    private void sharedRows(Instruction i, InstructionClass.Matrix matrix, List<Operand> operands)
            throws FenceRefusedException {
        Access access = matrix.access();
        context.counts.access(i.opcode(), Access.Place.SHARED);
        int bytes = matrix.strideOperand() < 0 ? matrix.rows() * matrix.rowBytes() : matrix.rowBytes();
        Operand.Register start = word((Operand.Address) operands.get(access.operand()));
        Operand.Register inside = clamped(i, start, bytes, access.alignmentBytes());
        operands.set(access.operand(), Code.at(inside, 0));
        if (matrix.strideOperand() < 0) {
            return;
        }
        Operand stride = stride(i, matrix, operands.get(matrix.strideOperand()));
        Operand.Register most = code.word();
        Operand.Register cut = code.word();
        code.emit("sub.u32", most, context.sharedEnd(), inside);
        code.emit("sub.u32", most, most, Code.number(matrix.rowBytes()));
        code.emit("div.u32", most, most, Code.number(Math.max(1, matrix.rows() - 1)));
        // Whole units of 16 bytes, counted in elements.
        code.emit("and.b32", most, most, Code.number(-UNIT));
        code.emit("shl.b32", most, most, Code.number(3));
        code.emit("div.u32", most, most, Code.number(matrix.elementBits()));
        code.emit("mov.u32", cut, stride);
        code.emit("min.u32", cut, cut, most);
        operands.set(matrix.strideOperand(), cut);
    }
}

package io.tessera.guardian.fence.access;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.KernelReport;
import io.tessera.guardian.fence.plan.BlockCache;
import io.tessera.guardian.fence.plan.FunctionContext;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.ptx.Operand;

/** Forces an address into the window by its high word: the window is a multiple of 4 GiB. Not thread-safe. */
public final class WindowFence {
    private final FunctionContext context;
    private final Code code;

    WindowFence(FunctionContext context) {
        this.context = context;
        this.code = context.code;
    }

    /** The address, inside the window; the low word is the same. */
    Operand.Register fenced(Operand.Register address) {
        BlockCache.Entry known = context.cache.find(address, BlockCache.Purpose.WINDOW, 0);
        if (known != null) {
            context.counts.proof(KernelReport.Proof.SAME_BASE);
            return known.fenced();
        }
        Operand.Register fenced = code.wide();
        into(fenced, address);
        context.cache.put(address, new BlockCache.Entry(BlockCache.Purpose.WINDOW, 0, fenced));
        return fenced;
    }

    /** Writes the fenced address into a register. */
    void into(Operand.Register fenced, Operand.Register address) {
        into(fenced, address, false);
    }

    /** As above. {@code common} says that all threads of a grid have the same address; this saves registers and need not be correct. */
    void into(Operand.Register fenced, Operand.Register address, boolean common) {
        context.counts.fence(KernelReport.Fence.WINDOW);
        Operand.Register low = code.word();
        Operand.Register high = code.word();
        code.emit("mov.b64", Code.pair(low, high), address);
        code.emit("mov.b64", fenced, Code.pair(low, context.mode() == FenceMode.MODULO ? modulo(high) : mask(high, common)));
    }

    private Operand.Register mask(Operand.Register high, boolean common) {
        Operand.Register inside = code.word();
        Operand.Register fenced = code.word();
        // NVIDIA's assembler makes one LOP3 of the two, and takes PTX for every target.
        code.emit("and.b32", inside, high, common ? context.prologue.commonHighWord() : context.prologue.highWord());
        code.emit("or.b32", fenced, inside, common ? context.prologue.commonBaseHigh() : context.prologue.baseHigh());
        return fenced;
    }

    /**
     * {@code (high - base) mod size + base} by the reciprocal {@code floor((2^32 - 1) / size)}: the quotient is at most one
     * too small.
     */
    private Operand.Register modulo(Operand.Register high) {
        Operand.Register size = context.prologue.highWord();
        Operand.Register offset = code.word();
        Operand.Register quotient = code.word();
        Operand.Register product = code.word();
        Operand.Register rest = code.word();
        Operand.Register reduced = code.word();
        Operand.Register fenced = code.word();
        Operand.Register again = code.truth();
        code.emit("sub.u32", offset, high, context.prologue.baseHigh());
        code.emit("mul.hi.u32", quotient, offset, context.prologue.reciprocal());
        code.emit("mul.lo.u32", product, quotient, size);
        code.emit("sub.u32", rest, offset, product);
        code.emit("sub.u32", reduced, rest, size);
        code.emit("setp.ge.u32", again, rest, size);
        code.emit("selp.b32", reduced, reduced, rest, again);
        code.emit("add.u32", fenced, reduced, context.prologue.baseHigh());
        return fenced;
    }

    /** The address with its low bits cleared. */
    Operand.Register aligned(Operand.Register address, long alignment) {
        if (alignment <= 1) {
            return address;
        }
        context.counts.fence(KernelReport.Fence.ALIGNMENT);
        Operand.Register aligned = code.wide();
        code.emit("and.b64", aligned, address, Code.number(-alignment));
        return aligned;
    }
}

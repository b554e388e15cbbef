package io.tessera.guardian.fence.access;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.KernelReport.Fence;
import io.tessera.guardian.fence.KernelReport.Proof;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.instruction.Access;
import io.tessera.guardian.fence.plan.BlockCache.Entry;
import io.tessera.guardian.fence.plan.BlockCache.Purpose;
import io.tessera.guardian.fence.plan.FunctionContext;
import io.tessera.guardian.fence.proof.AddressFact;
import io.tessera.guardian.fence.proof.Placement;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.fence.text.ReportArea;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.Variable;

/** Fences addresses of global memory. Not thread-safe. */
public final class GlobalFence {
    /**
     * A constant offset up to this is left to the guard bands in the mode CHECK too: an access that misses the window by less is
     * not reported. Greater ones are looked at in full.
     */
    private static final long UNCHECKED_BYTES = 4096;
    /** Largest access, a vector of 32 bytes, and cache lines of 128. */
    private static final long LARGEST_BYTES = 128;

    private final FunctionContext context;
    private final Code code;
    private final WindowFence window;
    private final Shadows shadows;

    /** Creates the fence for one function. */
    public GlobalFence(FunctionContext context, Shadows shadows) {
        this.context = context;
        this.code = context.code;
        this.window = new WindowFence(context);
        this.shadows = shadows;
    }

    /** Returns the fence that forces addresses of this function into the window. */
    public WindowFence window() {
        return window;
    }

    /** Returns the address with only its variable replaced. */
    Operand.Address unfenced(Operand.Address address) {
        return address.base() instanceof Operand.Named(String name) && context.hoisted(name)
                ? Code.at(context.hoistedAddress(name), address.offsetBytes()) : address;
    }

    /** The address, fenced. */
    Operand.Address fence(Instruction i, Access access, Operand.Address address, AddressFact fact) {
        boolean floating = fact.placement() instanceof Placement.FloatingBase;
        boolean shadowed = floating || fact.placement() instanceof Placement.FencedBase;
        boolean aligned = !shadowed && fact.alignmentBytes() >= access.alignmentBytes() || named(access, address);
        if (nearVariable(access, address, fact)) {
            context.counts.proof(Proof.NEAR_VARIABLE);
            return alignedOnly(i, access, unfenced(address), aligned);
        }
        Operand.Register shadow = shadowed && address.base() instanceof Operand.Register register ? shadows.of(register)
                : null;
        if (shadow != null) {
            if (!floating) {
                context.counts.proof(Proof.FENCED_BASE);
            }
            // Only of the shadow is it known that it is aligned; the program's register is what the program made it.
            return alignedOnly(i, access, Code.at(floating ? window.fenced(shadow) : shadow, address.offsetBytes()),
                    fact.alignmentBytes() >= access.alignmentBytes());
        }
        Operand.Register base = context.wide(address.base());
        if (context.mode() == FenceMode.CHECK) {
            return check(i, access, base, address.offsetBytes(), aligned);
        }
        if (!aligned && address.offsetBytes() % access.alignmentBytes() != 0 || far(address.offsetBytes())) {
            return Code.at(window.aligned(window.fenced(context.plus(base, address.offsetBytes())),
                    aligned ? 1 : access.alignmentBytes()), 0);
        }
        return aligned ? Code.at(window.fenced(base), address.offsetBytes())
                : Code.at(windowAndAligned(i, access, base, address.offsetBytes()), address.offsetBytes());
    }

    private static boolean far(long offset) {
        return offset != (int) offset;
    }

    /** Returns whether {@code [variable+offset]} is aligned by the variable's declaration. */
    private boolean named(Access access, Operand.Address address) {
        return address.base() instanceof Operand.Named(String name) && context.hoisted(name)
                && context.variable(name).alignment() >= access.alignmentBytes()
                && address.offsetBytes() % access.alignmentBytes() == 0;
    }

    private boolean nearVariable(Access access, Operand.Address address, AddressFact fact) {
        if (!(fact.placement() instanceof Placement.NearSymbol(String symbol, long low, long high))
                || !context.hoisted(symbol) || far(address.offsetBytes())) {
            return false;
        }
        Variable variable = context.variable(symbol);
        if (context.mode() == FenceMode.CHECK) {
            return low >= 0 && high <= variable.sizeBytes() - access.sizeBytes();
        }
        long reach = WindowConstants.GUARD_BYTES - LARGEST_BYTES - variable.sizeBytes();
        return low > -reach && high < reach;
    }

    /** Clears low bits of an address that is in the window for certain. */
    private Operand.Address alignedOnly(Instruction i, Access access, Operand.Address address, boolean aligned) {
        if (aligned || access.alignmentBytes() <= 1) {
            return address;
        }
        Operand.Register base = (Operand.Register) address.base();
        if (address.offsetBytes() % access.alignmentBytes() != 0) {
            return Code.at(window.aligned(context.plus(base, address.offsetBytes()), access.alignmentBytes()), 0);
        }
        // A group cannot be found by a shadow, so the access is alone.
        return Code.at(cachedAligned(base, base, access.alignmentBytes(), i.guard().isEmpty()), address.offsetBytes());
    }

    private Operand.Register windowAndAligned(Instruction i, Access access, Operand.Register base, long offset) {
        Entry known = context.cache.find(base, Purpose.ALIGNED, access.alignmentBytes());
        if (known != null) {
            context.counts.proof(Proof.SAME_BASE);
            return known.fenced();
        }
        AccessGroup group = AccessGroup.of(context, i, access, base, offset);
        return cachedAligned(base, window.fenced(base), group.alignment(), i.guard().isEmpty());
    }

    private Operand.Register cachedAligned(Operand.Register key, Operand.Register address, int alignment,
            boolean keep) {
        Entry known = context.cache.find(key, Purpose.ALIGNED, alignment);
        if (known != null) {
            return known.fenced();
        }
        Operand.Register aligned = window.aligned(address, alignment);
        if (keep) {
            context.cache.put(key, new Entry(Purpose.ALIGNED, alignment, aligned));
        }
        return aligned;
    }

    private Operand.Address check(Instruction i, Access access, Operand.Register base, long offset, boolean aligned) {
        boolean folded = Math.abs(offset) > UNCHECKED_BYTES || !aligned && offset % access.alignmentBytes() != 0;
        Operand.Register address = folded ? context.plus(base, offset) : base;
        int alignment = aligned ? 1 : folded || i.guard().isPresent() ? access.alignmentBytes()
                : AccessGroup.of(context, i, access, base, offset).alignment();
        if (context.cache.find(address, Purpose.CHECKED, alignment) != null) {
            context.counts.proof(Proof.SAME_BASE);
            return Code.at(address, folded ? 0 : offset);
        }
        context.counts.fence(Fence.WINDOW);
        Operand.Register low = code.word();
        Operand.Register high = code.word();
        Operand.Register off = code.word();
        Operand.Register wrong = code.truth();
        code.emit("mov.b64", Code.pair(low, high), address);
        code.emit("and.b32", off, high, outside());
        code.emit("xor.b32", off, off, context.prologue.baseHigh());
        if (alignment > 1) {
            Operand.Register odd = code.word();
            Operand.Register either = code.word();
            code.emit("and.b32", odd, low, Code.number(alignment - 1));
            code.emit("or.b32", either, off, odd);
            code.emit("setp.ne.u32", wrong, either, Code.number(0));
        } else {
            code.emit("setp.ne.u32", wrong, off, Code.number(0));
        }
        report(i, wrong, off, address);
        if (i.guard().isEmpty()) {
            context.cache.put(address, new Entry(Purpose.CHECKED, alignment, address));
        }
        return Code.at(address, folded ? 0 : offset);
    }

    /** The bits of the high word that are the window's number. */
    private Operand.Register outside() {
        Operand.Register mask = code.word();
        code.emit("not.b32", mask, context.prologue.highWord());
        return mask;
    }

    private void report(Instruction i, Operand.Register wrong, Operand.Register off, Operand.Register address) {
        String misaligned = context.sites.site(ReportArea.Kind.MISALIGNED, i.line(), address);
        String away = context.sites.site(ReportArea.Kind.ADDRESS, i.line(), address);
        String which = code.newLabel("which");
        context.sites.tail(() -> {
            Operand.Register aligned = code.truth();
            code.label(which);
            code.emit("setp.eq.u32", aligned, off, Code.number(0));
            code.branch(aligned, false, misaligned);
            code.emit("bra", new Operand.Symbol(away, 0));
        });
        context.sites.branchIf(wrong, i.guard(), which);
    }
}

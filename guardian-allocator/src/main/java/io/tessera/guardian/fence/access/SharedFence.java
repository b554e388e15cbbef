package io.tessera.guardian.fence.access;

import io.tessera.guardian.fence.KernelReport.Fence;
import io.tessera.guardian.fence.KernelReport.Proof;
import io.tessera.guardian.fence.instruction.Access;
import io.tessera.guardian.fence.plan.BlockCache.Entry;
import io.tessera.guardian.fence.plan.BlockCache.Purpose;
import io.tessera.guardian.fence.plan.FunctionContext;
import io.tessera.guardian.fence.proof.AddressFact;
import io.tessera.guardian.fence.proof.Placement;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.fence.text.ReportArea;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Variable;

/**
 * Keeps addresses of shared memory below the end of the block's: the hardware faults the whole context otherwise. Not
 * thread-safe.
 */
public final class SharedFence {
    /** Widest access to shared memory. */
    private static final int VECTOR_BYTES = 16;
    /** Bytes at the start of a block's shared memory for the system, from sm_90 on. */
    static final int RESERVED_BYTES = 1024;
    private static final long FAR = 1L << 30;

    private final FunctionContext context;
    private final Code code;

    /** Creates the fence for one function. */
    public SharedFence(FunctionContext context) {
        this.context = context;
        this.code = context.code;
    }

    /** The address, in bounds. */
    Operand.Address fence(Instruction i, Access access, Operand.Address address, AddressFact fact) {
        boolean aligned = fact.alignmentBytes() >= access.alignmentBytes() || named(access, address);
        if (aligned && inBounds(access, fact)) {
            context.counts.proof(Proof.IN_BOUNDS);
            return address;
        }
        Operand.Register word = context.word(address.base());
        Operand.Register key = address.base() instanceof Operand.Register register ? register : word;
        long offset = address.offsetBytes();
        Entry known = offset % access.alignmentBytes() == 0 ? context.cache.find(key, Purpose.CLAMPED, offset,
                offset + access.sizeBytes(), access.alignmentBytes()) : null;
        if (known != null) {
            context.counts.proof(Proof.SAME_BASE);
            return Code.at(known.fenced(), offset - known.low());
        }
        AccessGroup group = offset % access.alignmentBytes() == 0 && offset == (int) offset
                ? AccessGroup.of(context, i, access, key, offset, hasSize(fact) || !relies() ? FAR : RESERVED_BYTES)
                : AccessGroup.alone(access, offset);
        int regular = aligned ? regular(fact, group, offset) : 0;
        Operand.Register clamped = clamped(i, word, group, regular, fact);
        if (i.guard().isEmpty() && offset % access.alignmentBytes() == 0) {
            context.cache.put(key, new Entry(Purpose.CLAMPED, group.low(), group.reach(), group.alignment(), clamped));
        }
        return Code.at(clamped, offset - group.low());
    }

    private boolean named(Access access, Operand.Address address) {
        return address.base() instanceof Operand.Named(String name) && context.variable(name) instanceof Variable variable
                && variable.alignment() >= access.alignmentBytes()
                && address.offsetBytes() % access.alignmentBytes() == 0;
    }

    private boolean inBounds(Access access, AddressFact fact) {
        return fact.placement() instanceof Placement.NearSymbol(String symbol, long low, long high)
                && context.variable(symbol) instanceof Variable variable && low >= 0 && high >= low
                && high <= bytes(variable) - access.sizeBytes();
    }

    /** {@code min(address + low, end - bytes)}, aligned. Where there is less shared memory than that, the thread ends. */
    private Operand.Register clamped(Instruction i, Operand.Register word, AccessGroup group, int regular, AddressFact fact) {
        Operand.Register first = word;
        if (group.low() != 0) {
            first = code.word();
            code.emit("add.u32", first, word, Code.number((int) group.low()));
        }
        int alignment = Math.max(regular, group.alignment());
        Operand.Register limit = inVariable(fact, group.bytes(), alignment);
        if (limit == null) {
            limit = certain(fact, group.bytes()) ? below(group.bytes(), alignment) : limit(i, group.bytes(), alignment, first);
        }
        Operand.Register clamped = code.word();
        code.emit("min.u32", clamped, first, limit);
        if (context.plan.clusters()) {
            // Below would be another block, and no plain access may go there.
            code.emit("max.u32", clamped, clamped, context.prologue.sharedBase());
            return aligned(clamped, group.alignment());
        }
        // Known bits are cleared where there are more than accesses need: the assembler joins accesses that it sees aligned.
        return regular == group.alignment() ? clamped : aligned(clamped, alignment);
    }

    /** Alignment that is known of the group's start, up to {@link #VECTOR_BYTES}; 0 if it is less than the group needs. */
    private static int regular(AddressFact fact, AccessGroup group, long offset) {
        long known = Math.min(VECTOR_BYTES, fact.alignmentBytes());
        while (known > 1 && (offset - group.low()) % known != 0) {
            known /= 2;
        }
        return known >= group.alignment() ? (int) known : 0;
    }

    /** Returns whether a block is certain to have {@link #RESERVED_BYTES}. Then accesses that need no more than this omit the check of the size. */
    private boolean relies() {
        return !context.plan.clusters() && context.plan.reservesShared();
    }

    /** Returns whether an address comes from a variable whose size is declared. */
    private boolean hasSize(AddressFact fact) {
        return fact.placement() instanceof Placement.NearSymbol near && context.variable(near.symbol()) instanceof Variable variable
                && variable.sizeBytes() > 0;
    }

    /**
     * Highest aligned address from which that many bytes are left of the variable that an address comes from: a constant, other than the end of
     * the block's shared memory. Null where its place or its size is not known here.
     */
    private Operand.Register inVariable(AddressFact fact, long bytes, int alignment) {
        boolean known = fact.placement() instanceof Placement.NearSymbol near && context.variable(near.symbol()) instanceof Variable variable
                && variable.space() == StateSpace.SHARED && variable.linkage() == Linkage.INTERNAL && variable.sizeBytes() >= bytes
                && variable.alignment() >= alignment;
        if (!known) {
            return null;
        }
        context.counts.fence(Fence.SHARED);
        String symbol = ((Placement.NearSymbol) fact.placement()).symbol();
        return context.limits.inVariable(symbol, context.variable(symbol).sizeBytes() - bytes & -alignment);
    }

    /** Returns whether there is certainly that much shared memory, because the address comes from a variable that is at least as large. */
    private boolean certain(AddressFact fact, long bytes) {
        return fact.placement() instanceof Placement.NearSymbol near
                && context.variable(near.symbol()) instanceof Variable variable
                && variable.space() == StateSpace.SHARED && bytes(variable) >= bytes;
    }

    /** Bytes from a shared variable's start that there are; of dynamic memory none is certain. */
    private static long bytes(Variable variable) {
        boolean dynamic = variable.space() == StateSpace.SHARED && variable.linkage() == Linkage.EXTERN
                && variable.dimensions().contains(Variable.UNSIZED);
        return dynamic ? 0 : variable.sizeBytes();
    }

    private Operand.Register below(long bytes, int alignment) {
        context.counts.fence(Fence.SHARED);
        return context.limits.beforeEnd(bytes, alignment, context.sharedEnd());
    }

    private Operand.Register aligned(Operand.Register word, int alignment) {
        if (alignment <= 1) {
            return word;
        }
        Operand.Register aligned = code.word();
        code.emit("and.b32", aligned, word, Code.number(-alignment));
        return aligned;
    }

    /** Highest address from which that many bytes are left. */
    Operand.Register limit(Instruction i, long bytes, int alignment, Operand.Register word) {
        return limit(i, bytes, alignment, word, null);
    }

    /** As above, under a predicate that says whether the address is one of shared memory. */
    Operand.Register limit(Instruction i, long bytes, int alignment, Operand.Register word, Operand.Register where) {
        context.counts.fence(Fence.SHARED);
        Operand.Register end = context.sharedEnd();
        if (where == null && relies() && bytes <= RESERVED_BYTES) {
            context.prologue.needShared(bytes);
        } else {
            Operand.Register little = code.truth();
            // A generic address need not be one of shared memory, and a block without any is none to end for it.
            code.emit("setp.lt.u32", little, context.sharedBytes(), Code.number(bytes));
            if (where != null) {
                code.emit("and.pred", little, little, where);
            }
            context.sites.branchIf(little, i.guard(), context.sites.narrow(ReportArea.Kind.ADDRESS, i.line(), word));
        }
        return context.limits.beforeEnd(bytes, alignment, end);
    }

    /** The address in its own space, of a generic one. */
    Operand.Address toShared(Operand.Address address) {
        Operand.Register there = code.wide();
        code.emit("cvta.to.shared.u64", there, context.wide(address.base()));
        return Code.at(there, address.offsetBytes());
    }

    /** Fences a generic address that must be in shared memory and in bounds. */
    Operand.Address generic(Instruction i, Access access, Operand.Address address) {
        Operand.Register word = context.word(toShared(address).base());
        return Code.at(back(fence(i, access, Code.at(word, address.offsetBytes()), AddressFact.UNKNOWN)), 0);
    }

    private Operand.Register back(Operand.Address address) {
        Operand.Register wide = code.wide();
        Operand.Register generic = code.wide();
        code.emit("cvt.u64.u32", wide, (Operand.Register) address.base());
        code.emit("cvta.shared.u64", generic, wide);
        return context.plus(generic, address.offsetBytes());
    }

    /** An address in a block of the cluster, in bounds of that block's shared memory; all blocks have as much. */
    Operand.Address cluster(Instruction i, Access access, Operand.Address address) {
        Operand.Register word = context.word(address.base());
        Operand.Register sum = word;
        if (address.offsetBytes() != 0) {
            sum = code.word();
            code.emit("add.u32", sum, word, Code.number((int) address.offsetBytes()));
        }
        return Code.at(clusterClamped(i, sum, access.sizeBytes(), access.alignmentBytes(), null), 0);
    }

    /** As above, for an address in a register, followed by that many bytes. */
    Operand.Register clusterClamped(Instruction i, Operand.Register address, int bytes, int alignment,
            Operand.Register where) {
        Operand.Register limit = limit(i, bytes, alignment, address, where);
        Operand.Register rank = code.word();
        Operand.Register ranks = code.word();
        Operand.Register there = code.word();
        Operand.Register offset = code.word();
        Operand.Register start = context.prologue.sharedStart();
        Operand.Register own = code.word();
        Operand.Register here = code.truth();
        Operand.Register above = code.truth();
        // A plain address of the block's own need not look like one that mapa makes.
        code.emit("setp.ge.u32", above, address, context.prologue.sharedBase());
        code.emit("setp.lt.u32", here, address, context.sharedEnd());
        code.emit("and.pred", here, here, above);
        code.emit("min.u32", own, address, limit);
        code.emit("getctarank.shared::cluster.u32", rank, address);
        code.emit("mov.u32", ranks, new Operand.SpecialRegister("%cluster_nctarank", ""));
        code.emit("sub.u32", ranks, ranks, Code.number(1));
        code.emit("min.u32", rank, rank, ranks);
        code.emit("mapa.shared::cluster.u32", there, start, rank);
        code.emit("sub.u32", offset, address, there);
        code.emit("add.u32", offset, offset, start);
        code.emit("min.u32", offset, offset, limit);
        code.emit("max.u32", offset, offset, context.prologue.sharedBase());
        Operand.Register mapped = code.word();
        Operand.Register result = code.word();
        code.emit("sub.u32", mapped, aligned(offset, alignment), start);
        code.emit("add.u32", mapped, mapped, there);
        code.emit("selp.b32", result, aligned(own, alignment), mapped, here);
        return result;
    }
}

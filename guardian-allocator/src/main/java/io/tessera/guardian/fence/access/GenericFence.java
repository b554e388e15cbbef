package io.tessera.guardian.fence.access;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.KernelReport;
import io.tessera.guardian.fence.KernelReport.Fence;
import io.tessera.guardian.fence.instruction.Access;
import io.tessera.guardian.fence.plan.BlockCache.Entry;
import io.tessera.guardian.fence.plan.BlockCache.Purpose;
import io.tessera.guardian.fence.plan.FunctionContext;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.fence.text.ReportArea;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;

/** Fences a generic address whose space is known at run time only. Not thread-safe. */
final class GenericFence {
    private final FunctionContext context;
    private final Code code;
    private final GlobalFence global;
    private final SharedFence shared;
    private final SymbolClamp clamp;

    GenericFence(FunctionContext context, GlobalFence global, SharedFence shared, SymbolClamp clamp) {
        this.context = context;
        this.code = context.code;
        this.global = global;
        this.shared = shared;
        this.clamp = clamp;
    }

    /** The address, fenced for the space that it is in. */
    Operand.Address fence(Instruction i, Access access, Operand.Address address) throws FenceRefusedException {
        if (context.plan.linked() && context.function.kind() == PtxFunction.Kind.FUNC) {
            throw new FenceRefusedException(i.mnemonic(), i.line(), "its generic address may be one of a caller's local memory, "
                    + "and where that is cannot be passed between modules that are linked");
        }
        if (!context.plan.escapingParameters().isEmpty()) {
            throw new FenceRefusedException(i.mnemonic(), i.line(), "its generic address may be one of a parameter");
        }
        Operand.Register base = context.wide(address.base());
        long offset = address.offsetBytes();
        Entry known = context.cache.find(base, Purpose.GENERIC, offset, access.sizeBytes(), access.alignmentBytes());
        if (known != null && known.low() == offset && known.reach() == access.sizeBytes()
                && known.alignment() == access.alignmentBytes()) {
            context.counts.proof(KernelReport.Proof.SAME_BASE);
            return Code.at(known.fenced(), 0);
        }
        context.counts.fence(Fence.GENERIC);
        Operand.Register whole = context.plus(base, offset);
        WindowFence window = global.window();
        Operand.Register fenced = window.aligned(window.fenced(whole), access.alignmentBytes());
        if (context.plan.sharedEscapes() || context.plan.clusterEscapes()) {
            fenced = shared(i, access, whole, fenced);
        }
        if (context.plan.arenaBytes(context.function) >= access.sizeBytes()) {
            fenced = local(access, whole, fenced);
        }
        if (context.mode() == FenceMode.CHECK) {
            Operand.Register wrong = code.truth();
            code.emit("setp.ne.u64", wrong, fenced, whole);
            context.sites.branchIf(wrong, i.guard(), context.sites.site(ReportArea.Kind.ADDRESS, i.line(), whole));
        }
        if (i.guard().isEmpty()) {
            context.cache.put(base, new Entry(Purpose.GENERIC, offset, access.sizeBytes(), access.alignmentBytes(), fenced));
        }
        return Code.at(fenced, 0);
    }

    /** If blocks of a cluster can access each other's shared memory, that window contains the block's own memory. */
    private Operand.Register shared(Instruction i, Access access, Operand.Register address, Operand.Register otherwise) {
        String space = context.plan.clusterEscapes() ? "shared::cluster" : "shared";
        Operand.Register there = code.truth();
        Operand.Register window = code.wide();
        Operand.Register word = code.word();
        code.emit("isspacep." + space, there, address);
        code.emit("cvta.to." + space + ".u64", window, address);
        code.emit("cvt.u32.u64", word, window);
        Operand.Register inside;
        if (context.plan.clusterEscapes()) {
            inside = shared.clusterClamped(i, word, access.sizeBytes(), access.alignmentBytes(), there);
        } else {
            Operand.Register limit = shared.limit(i, access.sizeBytes(), access.alignmentBytes(), word, there);
            inside = code.word();
            code.emit("min.u32", inside, word, limit);
            if (context.plan.clusters()) {
                code.emit("max.u32", inside, inside, context.prologue.sharedBase());
            }
            code.emit("and.b32", inside, inside, Code.number(-access.alignmentBytes()));
        }
        Operand.Register wide = code.wide();
        Operand.Register generic = code.wide();
        Operand.Register selected = code.wide();
        code.emit("cvt.u64.u32", wide, inside);
        code.emit("cvta." + space + ".u64", generic, wide);
        code.emit("selp.b64", selected, generic, otherwise, there);
        return selected;
    }

    private Operand.Register local(Access access, Operand.Register address, Operand.Register otherwise) {
        Operand.Register there = code.truth();
        Operand.Register window = code.wide();
        Operand.Register generic = code.wide();
        Operand.Register selected = code.wide();
        code.emit("isspacep.local", there, address);
        code.emit("cvta.to.local.u64", window, address);
        code.emit("cvta.local.u64", generic, clamp.arena(access, window));
        code.emit("selp.b64", selected, generic, otherwise, there);
        return selected;
    }
}

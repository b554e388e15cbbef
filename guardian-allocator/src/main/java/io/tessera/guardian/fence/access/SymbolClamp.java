package io.tessera.guardian.fence.access;

import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.KernelReport;
import io.tessera.guardian.fence.KernelReport.Fence;
import io.tessera.guardian.fence.instruction.Access;
import io.tessera.guardian.fence.plan.BlockCache.Entry;
import io.tessera.guardian.fence.plan.BlockCache.Purpose;
import io.tessera.guardian.fence.plan.FunctionContext;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.Variable;

/** Keeps an address inside the variable that it comes from. Not thread-safe. */
final class SymbolClamp {
    private final FunctionContext context;
    private final Code code;

    SymbolClamp(FunctionContext context) {
        this.context = context;
        this.code = context.code;
    }

    /** The address, inside the variable. */
    Operand.Address fence(Instruction i, Access access, Operand.Address address, Variable variable)
            throws FenceRefusedException {
        long offset = address.offsetBytes();
        Operand.Register base = context.wide(address.base());
        boolean regular = offset % access.alignmentBytes() == 0 && offset == (int) offset;
        Entry known = regular ? context.cache.find(base, Purpose.CLAMPED, offset, offset + access.sizeBytes(),
                access.alignmentBytes()) : null;
        if (known != null) {
            context.counts.proof(KernelReport.Proof.SAME_BASE);
            return Code.at(known.fenced(), offset - known.low());
        }
        AccessGroup group = regular ? AccessGroup.of(context, i, access, base, offset)
                : AccessGroup.alone(access, offset);
        if (group.bytes() > variable.sizeBytes()) {
            group = AccessGroup.alone(access, offset);
        }
        Operand.Register clamped = clamped(i, access, context.plus(base, group.low()), group, variable);
        if (i.guard().isEmpty() && regular) {
            context.cache.put(base, new Entry(Purpose.CLAMPED, group.low(), group.reach(), group.alignment(), clamped));
        }
        return Code.at(clamped, offset - group.low());
    }

    private Operand.Register clamped(Instruction i, Access access, Operand.Register address, AccessGroup group,
            Variable variable) throws FenceRefusedException {
        long last = variable.sizeBytes() - group.bytes();
        if (last < 0) {
            throw new FenceRefusedException(i.mnemonic(), i.line(), "touches more bytes than '" + variable.name() + "' has");
        }
        context.counts.fence(access.place() == Access.Place.CONST ? Fence.CONSTANT : Fence.LOCAL);
        Operand.Register start = code.wide();
        code.emit("mov.u64", start, new Operand.Symbol(variable.name(), 0));
        return clamped(address, start, last, group.alignment());
    }

    private Operand.Register clamped(Operand.Register address, Operand.Register start, long last, int alignment) {
        Operand.Register offset = code.wide();
        Operand.Register inside = code.wide();
        Operand.Register sum = code.wide();
        code.emit("sub.s64", offset, address, start);
        code.emit("min.u64", inside, offset, Code.number(last));
        code.emit("add.s64", sum, inside, start);
        if (alignment <= 1) {
            return sum;
        }
        Operand.Register aligned = code.wide();
        code.emit("and.b64", aligned, sum, Code.number(-alignment));
        return aligned;
    }

    /** An address of local memory that may be of any variable whose address is a value somewhere, also of a caller's. */
    Operand.Address arena(Access access, Operand.Address address) {
        return Code.at(arena(access, context.plus(context.wide(address.base()), address.offsetBytes())), 0);
    }

    /** As above, with the address in a register. */
    Operand.Register arena(Access access, Operand.Register address) {
        context.counts.fence(Fence.LOCAL);
        return clamped(address, context.prologue.localStart(), context.plan.arenaBytes(context.function) - access.sizeBytes(),
                access.alignmentBytes());
    }
}

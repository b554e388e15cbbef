package io.tessera.guardian.fence.access;

import io.tessera.guardian.fence.instruction.Access;
import io.tessera.guardian.fence.instruction.Access.Place;
import io.tessera.guardian.fence.instruction.Definitions;
import io.tessera.guardian.fence.instruction.InstructionClass;
import io.tessera.guardian.fence.instruction.InstructionClass.AsyncCopy;
import io.tessera.guardian.fence.instruction.InstructionClass.Memory;
import io.tessera.guardian.fence.plan.FunctionContext;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Location;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
import java.util.List;

/**
 * A group of accesses with the same register and constant offsets that are all certain to be executed if one of them is. One fence serves them all:
 * if the furthest access is out of bounds, the program is wrong whatever the nearest one does. Immutable.
 *
 * @param low       offset of the nearest from the register, rounded down to the alignment
 * @param reach     offset behind the furthest byte that they touch
 * @param alignment largest alignment of the register that one of them demands
 */
record AccessGroup(long low, long reach, int alignment) {
    private static final int LOOK_AHEAD = 200;
    /** Look-ahead for shared memory, which kernels of matrices read in long rows. */
    private static final int LOOK_FURTHER = 500;
    private static final long FAR = 1L << 30;

    /** The group of an access at a register, which is the first one of it; an access under a guard is alone. */
    static AccessGroup of(FunctionContext context, Instruction first, Access access, Operand.Register register,
            long offset) {
        return of(context, first, access, register, offset, FAR);
    }

    /** As above, for accesses within this many bytes of each other, if the first is among them. */
    static AccessGroup of(FunctionContext context, Instruction first, Access access, Operand.Register register, long offset, long mostBytes) {
        AccessGroup group = alone(access, offset);
        if (first.guard().isPresent()) {
            return group;
        }
        List<Statement> statements = context.statements;
        int end = Math.min(statements.size(), context.index + (access.place() == Place.SHARED ? LOOK_FURTHER : LOOK_AHEAD));
        for (int i = context.index; i < end; i++) {
            Statement statement = statements.get(i);
            if (statement instanceof Instruction instruction) {
                List<Access> accesses = accesses(context.plan.classOf(instruction));
                if (accesses == null) {
                    return group;
                }
                if (instruction.guard().isEmpty()) {
                    group = with(group, instruction, accesses, access.place(), register, mostBytes);
                }
                if (Definitions.writes(instruction, register)) {
                    return group;
                }
            } else if (!(statement instanceof Location || statement instanceof Variable)) {
                return group;
            }
        }
        return group;
    }

    /** An access for itself; its offset need not be a multiple of its alignment. */
    static AccessGroup alone(Access access, long offset) {
        return new AccessGroup(offset, offset + access.sizeBytes(), access.alignmentBytes());
    }

    /** Bytes from the nearest to the furthest. */
    long bytes() {
        return reach - low;
    }

    /** The addresses of an instruction behind which control goes on, or null. */
    private static List<Access> accesses(InstructionClass what) {
        return switch (what) {
            case InstructionClass.Pure _,InstructionClass.Warp _,InstructionClass.Dropped _ -> List.of();
            case Memory(List<Access> accesses) -> accesses;
            case AsyncCopy(List<Access> accesses, int _) -> accesses;
            default -> null;
        };
    }

    private static AccessGroup with(AccessGroup group, Instruction instruction, List<Access> accesses, Place place,
            Operand.Register register, long mostBytes) {
        AccessGroup wider = group;
        for (Access access : accesses) {
            boolean same = access.place() == place && access.kind() != Access.Kind.PREFETCH
                    && instruction.operands().get(access.operand()) instanceof Operand.Address(Operand.Base base, long _)
                    && base.equals(register);
            long offset = same ? ((Operand.Address) instruction.operands().get(access.operand())).offsetBytes() : 0;
            if (same && offset % access.alignmentBytes() == 0 && Math.abs(offset) < FAR) {
                int alignment = Math.max(wider.alignment(), access.alignmentBytes());
                AccessGroup both = new AccessGroup(Math.min(wider.low(), offset) & -alignment,
                        Math.max(wider.reach(), offset + access.sizeBytes()), alignment);
                wider = both.bytes() <= mostBytes ? both : wider;
            }
        }
        return wider;
    }
}

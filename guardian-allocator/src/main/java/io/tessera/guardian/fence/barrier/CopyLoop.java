package io.tessera.guardian.fence.barrier;

import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.ptx.Operand;
import java.util.List;

/** Emits a bulk copy into shared memory as a loop of the requesting thread, with {@code cp.async} where PTX has it. Not thread-safe. */
final class CopyLoop {
    /** Upper bound of the length of a copy: more than the shared memory that a block of any GPU has. */
    static final int MOST_BYTES = 1 << 18;
    static final int UNIT = 16;
    /** Units between two tests of the loop counter. */
    private static final int UNROLLED = 8;

    /**
     * Source and destination of a copy.
     *
     * @param to          address in shared memory, 32 bits
     * @param from        address, 64 bits in global memory and 32 in shared
     * @param fromShared  whether the source is in shared memory
     * @param otherBlocks whether the destination may be in another block of the cluster
     */
    record Ends(Operand.Register to, Operand.Register from, boolean fromShared, boolean otherBlocks) {
    }

    private final Code code;

    CopyLoop(Code code) {
        this.code = code;
    }

    /** The number of bytes to copy, from an operand: whole units, at most the largest copy. */
    Operand length(Operand bytes) {
        if (bytes instanceof Operand.Immediate(long value, boolean _)) {
            return Code.number(Math.min(value & 0xFFFF_FFFFL, MOST_BYTES) & -UNIT);
        }
        Operand.Register length = code.word();
        code.emit("min.u32", length, bytes, Code.number(MOST_BYTES));
        code.emit("and.b32", length, length, Code.number(-UNIT));
        return length;
    }

    /** Writes the copy of this many bytes, which {@code cp.async.wait_all} awaits; the registers of the ends are changed. */
    void write(Ends ends, Operand length) {
        long bytes = length instanceof Operand.Immediate(long value, boolean _) ? value : -1;
        if (bytes < 0 || bytes >= UNIT * UNROLLED) {
            loop(ends, length, UNROLLED, bytes);
        }
        if (bytes < 0 || bytes % (UNIT * UNROLLED) != 0) {
            loop(ends, length, 1, bytes);
        }
    }

    private static boolean isDirect(Ends ends) {
        return !ends.fromShared() && !ends.otherBlocks();
    }

    /** Emits a loop that copies this many units in each iteration, for the whole copy or for its remainder. */
    private void loop(Ends ends, Operand length, int units, long known) {
        Operand.Register passes = code.word();
        Operand.Register more = code.truth();
        String again = code.newLabel("copy");
        String behind = code.newLabel("copied");
        boolean all = units > 1;
        if (known >= 0) {
            code.emit("mov.u32", passes, Code.number(all ? known / (UNIT * units) : known % (UNIT * UNROLLED) / UNIT));
        } else {
            code.emit("shr.u32", passes, length, Code.number(Integer.numberOfTrailingZeros(UNIT * units)));
            if (!all) {
                code.emit("and.b32", passes, passes, Code.number(UNROLLED - 1));
            }
            code.emit("setp.eq.u32", more, passes, Code.number(0));
            code.branch(more, false, behind);
        }
        code.label(again);
        units(ends, units);
        code.emit("add.u32", ends.to(), ends.to(), Code.number((long) UNIT * units));
        code.emit(ends.fromShared() ? "add.u32" : "add.s64", ends.from(), ends.from(), Code.number((long) UNIT * units));
        code.emit("sub.u32", passes, passes, Code.number(1));
        code.emit("setp.ne.u32", more, passes, Code.number(0));
        code.branch(more, false, again);
        code.label(behind);
    }

    /** Writes the copy of this many units from the ends on, which it does not change. */
    void units(Ends ends, int units) {
        for (int unit = 0; unit < units; unit++) {
            unit(ends, (long) unit * UNIT);
        }
    }

    private void unit(Ends ends, long offset) {
        if (isDirect(ends)) {
            code.emit("cp.async.cg.shared.global", Code.at(ends.to(), offset), Code.at(ends.from(), offset), Code.number(UNIT));
            return;
        }
        Operand values = new Operand.Vector(List.of(code.word(), code.word(), code.word(), code.word()));
        code.emit(ends.fromShared() ? "ld.shared.v4.b32" : "ld.global.v4.b32", values, Code.at(ends.from(), offset));
        code.emit(ends.otherBlocks() ? "st.shared::cluster.v4.b32" : "st.shared.v4.b32", Code.at(ends.to(), offset), values);
    }
}

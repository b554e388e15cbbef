package io.tessera.guardian.verify;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.Operand.Address;
import io.tessera.guardian.ptx.Operand.Immediate;
import io.tessera.guardian.ptx.Operand.Named;
import io.tessera.guardian.ptx.Operand.Register;
import io.tessera.guardian.ptx.Operand.SpecialRegister;
import java.util.List;

/**
 * The first instructions of a kernel, by which the blocks of a large grid read the stop word when they begin, and end if it is zero:
 * <pre>{@code
 * mov.u32 r, %nctaid.x;       setp.gt.u32 p, r, X;
 * mov.u32 r, %nctaid.y;       setp.gt.or.u32 p, r, Y, p;
 * mov.u32 r, %nctaid.z;       setp.gt.or.u32 p, r, Z, p;
 * ld.const.u64 d, [__tessera_window+40];
 * @p ld.volatile.global.u32 r, [d];
 * @p setp.lt.s32 p, r, 1;
 * @p exit;
 * }</pre>
 * So a grid of which no block reads it has X times Y times Z blocks, at most. Stateless.
 */
final class GridLook {
    /** More blocks than any grid has of which each may make an instruction. */
    static final long UNBOUNDED = 1L << 62;
    private static final int LENGTH = 10;
    private static final List<String> DIMENSIONS = List.of("x", "y", "z");

    private GridLook() {
    }

    /** How many blocks a grid may have that do not look when they begin. */
    static long blocks(List<Instruction> code) {
        if (code.size() < LENGTH || !(first(code, 0) instanceof Register word) || !(first(code, 1) instanceof Register beyond)
                || !(first(code, 6) instanceof Register place)) {
            return UNBOUNDED;
        }
        long blocks = 1;
        for (int dimension = 0; dimension < DIMENSIONS.size(); dimension++) {
            Instruction compare = code.get(2 * dimension + 1);
            long most = compare.operands().size() > 2 && compare.operands().get(2) instanceof Immediate(long value, boolean _) ? value : 0;
            Operand[] compared = dimension == 0 ? new Operand[] {beyond, word, null} : new Operand[] {beyond, word, null, beyond};
            boolean so = is(code.get(2 * dimension), null, "mov.u32", word, new SpecialRegister("%nctaid", DIMENSIONS.get(dimension)))
                    && is(compare, null, dimension == 0 ? "setp.gt.u32" : "setp.gt.or.u32", compared);
            if (!so || most < 1 || most > Integer.MAX_VALUE) {
                return UNBOUNDED;
            }
            blocks = blocks > UNBOUNDED / most ? UNBOUNDED : blocks * most;
        }
        boolean looks = is(code.get(6), null, "ld.const.u64", place, new Address(new Named(Reserved.WINDOW), Reserved.STOP))
                && is(code.get(7), beyond, "ld.volatile.global.u32", word, new Address(place, 0))
                && is(code.get(8), beyond, "setp.lt.s32", beyond, word, null) && code.get(8).operands().get(2) instanceof Immediate(long value, boolean _) && value == 1
                && is(code.get(9), beyond, "exit");
        return looks ? blocks : UNBOUNDED;
    }

    private static Operand first(List<Instruction> code, int at) {
        List<Operand> operands = code.get(at).operands();
        return operands.isEmpty() ? null : operands.getFirst();
    }

    /** Whether an instruction is this one; null: an operand that is looked at elsewhere. */
    private static boolean is(Instruction i, Register guard, String mnemonic, Operand... operands) {
        boolean guarded = i.guard().map(given -> !given.negated() && given.register().equals(guard)).orElse(guard == null);
        if (!guarded || !i.mnemonic().equals(mnemonic) || i.operands().size() != operands.length) {
            return false;
        }
        for (int n = 0; n < operands.length; n++) {
            if (operands[n] != null && !operands[n].equals(i.operands().get(n))) {
                return false;
            }
        }
        return true;
    }
}

package io.tessera.guardian.verify.loop;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand.Address;
import io.tessera.guardian.ptx.Operand.Immediate;
import io.tessera.guardian.ptx.Operand.Named;
import io.tessera.guardian.ptx.Operand.Register;
import io.tessera.guardian.ptx.Operand.SpecialRegister;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.verify.Reserved;
import java.util.List;

/**
 * The first instructions of a kernel, by which the blocks of a large grid read the stop word when they begin, and end if it is zero:
 * <pre>{@code
 * mov.u32 r, %nctaid.y;
 * mov.u32 s, %nctaid.z;
 * mul.lo.u32 r, r, s;         // no GPU takes more than 65,535 in y and z
 * mov.u32 s, %nctaid.x;
 * mul.wide.u32 d, r, s;
 * setp.gt.u64 p, d, BLOCKS;
 * ld.const.u64 d, [__tessera_window+40];
 * @p ld.volatile.global.u32 r, [d];
 * @p setp.lt.s32 p, r, 1;
 * @p exit;
 * }</pre>
 * So a grid whose blocks do not read the stop word has at most BLOCKS blocks. Stateless.
 */
public final class GridLookCheck {
    /** The answer for a kernel without such a start: more blocks than any grid can execute. */
    public static final long UNBOUNDED = 1L << 62;
    private static final int LENGTH = 10;

    private GridLookCheck() {
    }

    /** Returns how many blocks a grid may have that do not look when they begin. */
    public static long blocks(List<Instruction> code) {
        if (code.size() < LENGTH || !(first(code, 0) instanceof Register word) || !(first(code, 1) instanceof Register other)
                || !(first(code, 4) instanceof Register wide) || !(first(code, 5) instanceof Register beyond) || word.equals(other)) {
            return UNBOUNDED;
        }
        boolean looks = is(code.get(0), null, "mov.u32", word, extent("y")) && is(code.get(1), null, "mov.u32", other, extent("z"))
                && is(code.get(2), null, "mul.lo.u32", word, word, other) && is(code.get(3), null, "mov.u32", other, extent("x"))
                && is(code.get(4), null, "mul.wide.u32", wide, word, other) && is(code.get(5), null, "setp.gt.u64", beyond, wide, null)
                && is(code.get(6), null, "ld.const.u64", wide, new Address(new Named(Reserved.WINDOW), Reserved.STOP))
                && is(code.get(7), beyond, "ld.volatile.global.u32", word, new Address(wide, 0))
                && is(code.get(8), beyond, "setp.lt.s32", beyond, word, null) && number(code.get(8)) == 1 && is(code.get(9), beyond, "exit");
        long blocks = looks ? number(code.get(5)) : -1;
        return blocks >= 0 ? Math.min(blocks, UNBOUNDED) : UNBOUNDED;
    }

    private static SpecialRegister extent(String dimension) {
        return new SpecialRegister("%nctaid", dimension);
    }

    /** Returns the number with which an instruction compares; -1 if it is not a constant. */
    private static long number(Instruction compare) {
        return compare.operands().get(2) instanceof Immediate(long value, boolean _) ? value : -1;
    }

    private static Operand first(List<Instruction> code, int at) {
        List<Operand> operands = code.get(at).operands();
        return operands.isEmpty() ? null : operands.getFirst();
    }

    /** Returns whether an instruction has this form; a null operand is checked elsewhere. */
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

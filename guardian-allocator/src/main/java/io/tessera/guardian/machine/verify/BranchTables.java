package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.container.Attributes;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.container.CubinSection;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Verifies that indirect branches through a table go where the cubin's attributes say: the attributes name the branch, and constant bank 2, from which it
 * loads its target, contains that table. The result says whether the bank contains other words, too. Kernels cannot write this bank. Stateless.
 */
final class BranchTables {
    private static final int LOAD_CONSTANT = 0xb82;
    /** The second word of a 32-bit load, without control bits: the index is added to the offset, and not to the number of the bank. */
    private static final long LOAD_WORD = 0x800;
    private static final long WITHOUT_CONTROL = (1L << 41) - 1;
    /** {@code BRX}; {@code BRXU} uses a uniform register. */
    private static final int BRANCH = 0x949;
    /** {@code SHF.R.S32.HI Rd, RZ, 0x1f, Ra} without its registers, and the minimum number of cycles that ptxas leaves between it and a branch. */
    private static final long SIGN = 0x1f_ff007819L;
    private static final long SIGN_HIGH = 0x11400;
    private static final int SIGN_CYCLES = 4;
    private static final int BANK = 2;
    /** Maximum number of comparisons for all branches of a section. */
    private static final long MOST_STEPS = 1 << 24;

    private BranchTables() {
    }

    /**
     * Checks a section.
     *
     * @return the first property that is not shown; null if there is none
     * @throws MachineCodeException if a branch has no table, or a table that is not in its bank
     */
    static String require(Cubin cubin, CubinSection section, SectionFlow flow) throws MachineCodeException {
        boolean any = false;
        for (int i = 0; i < flow.count() && !any; i++) {
            any = flow.operation(i).kind() == Kind.INDIRECT_BRANCH;
        }
        if (!any) {
            return null;
        }
        String name = section.functionName(CubinSection.CODE);
        CubinSection attributes = cubin.section(CubinSection.ATTRIBUTES + "." + name);
        CubinSection bank = cubin.section(CubinSection.TABLES + name);
        List<int[]> tables = attributes == null ? List.of() : Attributes.read(attributes.data()).branchTables();
        Map<Integer, int[]> byBranch = new HashMap<>();
        for (int[] table : tables) {
            if (byBranch.put(table[0], table) != null) {
                throw new MachineCodeException("a branch with two tables", table[0]);
            }
        }
        boolean loaded = true;
        long steps = 0;
        for (int i = 0; i < flow.count(); i++) {
            if (flow.operation(i).kind() == Kind.INDIRECT_BRANCH) {
                int[] table = byBranch.get(i * InstructionWord.BYTES);
                if (table == null || bank == null) {
                    throw new MachineCodeException("a branch without a table", i * InstructionWord.BYTES);
                }
                steps = requireFound(bank, table, steps);
                loaded &= isLoaded(flow, i);
            }
        }
        boolean targets = hasOnlyTargets(bank, flow);
        return !loaded ? "a branch whose target is not loaded beside it" : targets ? null : "an index into a branch table";
    }

    /** Returns whether every word of a bank is a branch target at which the verifier assumes nothing, so that it does not matter which word is used. */
    private static boolean hasOnlyTargets(CubinSection bank, SectionFlow flow) {
        ByteBuffer words = ByteBuffer.wrap(bank.data()).order(ByteOrder.LITTLE_ENDIAN);
        boolean all = bank.data().length % Integer.BYTES == 0;
        for (int at = 0; at + Integer.BYTES <= bank.data().length; at += Integer.BYTES) {
            long target = Integer.toUnsignedLong(words.getInt(at));
            boolean instruction = target % InstructionWord.BYTES == 0 && target / InstructionWord.BYTES < flow.count();
            all &= instruction && flow.isEntered((int) (target / InstructionWord.BYTES));
        }
        return all;
    }

    /** Checks that the targets of a branch are contiguous in the bank. Returns the number of comparisons, including earlier ones. */
    private static long requireFound(CubinSection bank, int[] table, long before) throws MachineCodeException {
        ByteBuffer words = ByteBuffer.wrap(bank.data()).order(ByteOrder.LITTLE_ENDIAN);
        long steps = before;
        for (int at = 0; at + Integer.BYTES * (table.length - 1) <= bank.data().length && steps < MOST_STEPS; at += Integer.BYTES) {
            int equal = 1;
            while (equal < table.length && words.getInt(at + Integer.BYTES * (equal - 1)) == table[equal]) {
                equal++;
            }
            if (equal == table.length) {
                return steps + equal;
            }
            steps += equal;
        }
        throw new MachineCodeException("a branch whose table is not in its bank", table[0]);
    }

    /**
     * Returns whether the target of a branch is a word of its bank. The block must contain {@code LDC R, c[2][...]}, for which the code waits, and {@code
     * SHF.R.S32.HI R+1, RZ, 0x1f, R}, since the branch takes 64 bits. Compilers write no other form. {@link InFlightFlow} checks that no other
     * instruction in flight writes these registers.
     */
    private static boolean isLoaded(SectionFlow flow, int branch) {
        int register = InstructionWord.source(flow.low(branch));
        int sign = InstructionWord.key(flow.low(branch), flow.high(branch)) == BRANCH && (register & 1) == 0 ? writer(flow, branch, register) : -1;
        int load = sign >= 0 && isSign(flow, sign, register) && cycles(flow, sign, branch) >= SIGN_CYCLES ? writer(flow, sign, register) : -1;
        if (load < 0) {
            return false;
        }
        long low = flow.low(load);
        boolean loads = ((int) low & 0xfff) == LOAD_CONSTANT && (low >>> 54 & 0x1f) == BANK && InstructionWord.destination(low) == register
                && InstructionWord.predicate(low) == InstructionWord.ALWAYS && (flow.high(load) & WITHOUT_CONTROL) == LOAD_WORD;
        int board = InstructionWord.writeScoreboard(flow.high(load));
        boolean waited = false;
        for (int i = load + 1; i <= sign; i++) {
            waited |= (InstructionWord.waits(flow.high(i)) >>> board & 1) != 0;
        }
        return loads && waited;
    }

    /** Returns the last instruction before another one, in the same block, that writes a register of a pair; negative if there is none. */
    private static int writer(SectionFlow flow, int before, int register) {
        for (int i = before - 1; i >= 0 && !flow.isLeader(i + 1); i--) {
            if (flow.operation(i).writes(flow.low(i), register) || flow.operation(i).writes(flow.low(i), register + 1)) {
                return i;
            }
        }
        return -1;
    }

    private static boolean isSign(SectionFlow flow, int at, int register) {
        return flow.low(at) == (SIGN | (long) register + 1 << 16) && (flow.high(at) & WITHOUT_CONTROL) == (SIGN_HIGH | register);
    }

    private static int cycles(SectionFlow flow, int from, int to) {
        int cycles = 0;
        for (int i = from; i < to; i++) {
            cycles += InstructionWord.cycles(flow.high(i));
        }
        return cycles;
    }
}

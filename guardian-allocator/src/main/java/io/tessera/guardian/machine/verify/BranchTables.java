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
 * Shows that branches by a table go where the attributes say: the attributes name the branch, and constant bank 2, which it loads its target from, has
 * that table. Whether it has other words, too, is said. Constants of a kernel cannot be written by kernels. Stateless.
 */
final class BranchTables {
    private static final int LOAD_CONSTANT = 0xb82;
    private static final int BANK = 2;
    /** Comparisons for a branch at most. */
    private static final long MOST_STEPS = 1 << 20;

    private BranchTables() {
    }

    /**
     * Looks at a section.
     *
     * @return what is not shown; null: nothing
     * @throws MachineCodeException if a branch has no table, or one that is not in its bank
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
        for (int i = 0; i < flow.count(); i++) {
            if (flow.operation(i).kind() == Kind.INDIRECT_BRANCH) {
                int[] table = byBranch.get(i * InstructionWord.BYTES);
                if (table == null || bank == null) {
                    throw new MachineCodeException("a branch without a table", i * InstructionWord.BYTES);
                }
                requireFound(bank, table);
                loaded &= load(flow, i) >= 0;
            }
        }
        boolean targets = hasOnlyTargets(bank, flow);
        return !loaded ? "a branch whose target is not loaded beside it" : targets ? null : "an index into a branch table";
    }

    /**
     * Whether every word of a bank leads to a place at which the verifier knows nothing, so that it does not matter which one is taken.
     */
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

    /** The targets of a branch lie in a row in the bank. */
    private static void requireFound(CubinSection bank, int[] table) throws MachineCodeException {
        ByteBuffer words = ByteBuffer.wrap(bank.data()).order(ByteOrder.LITTLE_ENDIAN);
        long steps = 0;
        for (int at = 0; at + Integer.BYTES * (table.length - 1) <= bank.data().length && steps < MOST_STEPS; at += Integer.BYTES) {
            int equal = 1;
            while (equal < table.length && words.getInt(at + Integer.BYTES * (equal - 1)) == table[equal]) {
                equal++;
            }
            if (equal == table.length) {
                return;
            }
            steps += equal;
        }
        throw new MachineCodeException("a branch whose table is not in its bank", table[0]);
    }

    /** The load of a branch's target, in the same block; negative: it is not found. */
    private static int load(SectionFlow flow, int branch) {
        int register = InstructionWord.source(flow.low(branch));
        for (int i = branch - 1; i >= 0 && !flow.isLeader(i + 1); i--) {
            long low = flow.low(i);
            if (flow.operation(i).writes(low, register)) {
                boolean loads = ((int) low & 0xfff) == LOAD_CONSTANT && (low >>> 54 & 0x1f) == BANK && InstructionWord.destination(low) == register;
                return loads ? i : -1;
            }
        }
        return -1;
    }
}

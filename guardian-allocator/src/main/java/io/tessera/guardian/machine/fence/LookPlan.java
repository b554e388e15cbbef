package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.code.Architecture;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.look.LookRegisters;
import io.tessera.guardian.machine.look.LookWords;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The places of a section's looks at the stop word, and their registers. One owner thread; filled by {@link LookPlaces}, then used for one rewriting.
 */
final class LookPlan {
    /** A plan without looks. */
    static final LookPlan NONE = new LookPlan(0, null);

    private final long stopAddress;
    private final LookRegisters registers;
    /** Indexed by instruction: the sum before it. */
    private final Map<Integer, Sum> sums = new HashMap<>();
    /** Indexed by instruction: the branch before it, as the register that its look may write. */
    private final Map<Integer, Integer> branches = new HashMap<>();
    /** Branches in the order in which they were put, and their registers. */
    private final List<int[]> put = new ArrayList<>();
    private boolean spare;

    /**
     * A sum of the counter.
     *
     * @param step  that is added
     * @param stall cycles behind it
     */
    private record Sum(int step, int stall) {
    }

    /**
     * A plan without looks.
     *
     * @param stopAddress of the stop word
     * @param registers   that nothing else uses; null if there will be no look
     */
    LookPlan(long stopAddress, LookRegisters registers) {
        this.stopAddress = stopAddress;
        this.registers = registers;
    }

    /**
     * Adds a look.
     *
     * @param sum      the instruction before which the counter is stepped
     * @param step the addend
     * @param stall    cycles after the step
     * @param branch   the instruction before which the branch is, in the same block
     * @param register register that the look may write
     */
    void add(int sum, int step, int stall, int branch, int register) {
        sums.put(sum, new Sum(step, stall));
        branches.put(branch, register);
    }

    /** A register that the section did not have before is used. */
    void useSpare() {
        spare = true;
    }

    /** Returns whether the spare register is used. */
    boolean usesSpare() {
        return spare;
    }

    /** Returns whether there is no look. */
    boolean isEmpty() {
        return branches.isEmpty();
    }

    /** Appends what comes before an instruction of the section. */
    void put(CodeBuilder out, int at) {
        Sum sum = sums.get(at);
        if (sum != null) {
            out.interrupt();
            out.atLeast(Encoding.APART);
            out.add(LookWords.add(registers.counter(), sum.step(), registers.due()),
                    LookWords.addHigh(registers.due()) | InstructionWord.control(sum.stall(), 0));
        }
        if (branches.containsKey(at)) {
            out.interrupt();
            put.add(new int[] {out.count(), branches.get(at)});
            out.add(LookWords.branch(registers.due()), LookWords.branchHigh() | InstructionWord.control(5, 0));
        }
    }

    /** Appends what is behind the code, and leads the branches there. */
    void finish(CodeBuilder out, Architecture architecture) throws MachineCodeException {
        int[] stalls = {2, 2, LookWords.BEFORE_LOAD, 2, LookWords.BEFORE_USE, LookWords.BEFORE_USE, 5, 5};
        for (int[] look : put) {
            int first = out.count();
            lead(out, architecture, look[0], first);
            long[] words = LookWords.behind(stopAddress, look[1], registers);
            for (int i = 0; i < LookWords.COUNT; i++) {
                int waits = i == 0 ? 0x3f : i == LookWords.LOAD + 1 ? 1 : 0;
                long high = words[2 * i + 1] | InstructionWord.control(stalls[i], waits);
                out.add(words[2 * i], i == LookWords.LOAD ? InstructionWord.withWriteScoreboard(high, 0) : high);
            }
            lead(out, architecture, first + LookWords.COUNT - 2, look[0] + 1);
        }
    }

    private static void lead(CodeBuilder out, Architecture architecture, int from, int to) {
        long distance = (long) (to - from - 1) * InstructionWord.BYTES;
        out.set(from, architecture.withDistanceLow(out.low(from), distance),
                architecture.withDistanceHigh(out.high(from), distance));
    }
}

package io.tessera.software.compile.flat;

import io.tessera.software.program.LoweredInstruction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;

/** Control flow of flattened code, and which registers are live where. */
public final class CodeFlow {
    private final List<Step> steps;
    private final BitSet targets = new BitSet();
    private final BitSet loopHeads = new BitSet();
    /** First step of each block, and the number of steps at the end. */
    private final int[] begins;
    private final int[] blockOf;
    private final BitSet[] liveIn;

    /** The control flow of a sequence of steps. */
    public CodeFlow(List<Step> steps) {
        this.steps = steps;
        BitSet leaders = new BitSet();
        leaders.set(0);
        for (int i = 0; i < steps.size(); i++) {
            for (int target : branches(steps.get(i))) {
                targets.set(target);
                leaders.set(target);
                if (target <= i) {
                    loopHeads.set(target);
                }
            }
            if (!branches(steps.get(i)).isEmpty() || !fallsThrough(steps.get(i))) {
                leaders.set(i + 1);
            }
        }
        leaders.clear(steps.size(), leaders.length() + 1);
        begins = IntStream.concat(leaders.stream(), IntStream.of(steps.size()))
                .toArray();
        blockOf = new int[steps.size()];
        for (int block = 0; block + 1 < begins.length; block++) {
            Arrays.fill(blockOf, begins[block], begins[block + 1], block);
        }
        liveIn = solve();
    }

    /** Returns where a step may go other than to the next one. */
    static List<Integer> branches(Step step) {
        return switch (step) {
            case Step.Plain plain -> plain.targets();
            case Step.Jump jump -> List.of(jump.target());
            case Step.SkipCall skip -> List.of(skip.target());
            case Step.Copy _,Step.Enter _ -> List.of();
        };
    }

    /** Returns whether a step may go to the next one. */
    static boolean fallsThrough(Step step) {
        return switch (step) {
            case Step.Plain plain -> isGuarded(plain.instruction()) || !plain.instruction().opcode().endsBlock();
            case Step.Jump jump -> isGuarded(jump.instruction());
            case Step.SkipCall _,Step.Copy _,Step.Enter _ -> true;
        };
    }

    private static boolean isGuarded(LoweredInstruction instruction) {
        return instruction.guard() != null;
    }

    /** Returns whether some step branches here. */
    public boolean isTarget(int step) {
        return targets.get(step);
    }

    /** Returns whether a later step, or this one itself, branches here. */
    boolean isLoopHead(int step) {
        return loopHeads.get(step);
    }

    /** Returns whether the code between a loop's head and the last branch back reads what other threads may change. */
    boolean loopWaitsForOthers(int head) {
        int last = head;
        for (int i = head; i < steps.size(); i++) {
            if (branches(steps.get(i)).contains(head)) {
                last = i;
            }
        }
        for (int i = head; i <= last; i++) {
            if (steps.get(i) instanceof Step.Plain plain && WaitingCode.observesOthers(plain.instruction())) {
                return true;
            }
        }
        return false;
    }

    /** Registers that are live before a step. */
    public BitSet liveBefore(int step) {
        BitSet live = liveAfterBlock(blockOf[step]);
        for (int i = begins[blockOf[step] + 1] - 1; i >= step; i--) {
            transfer(steps.get(i), live);
        }
        return live;
    }

    /** Registers that are live after a step, its own results among them. */
    public BitSet liveAfter(int step) {
        BitSet live = liveAfterBlock(blockOf[step]);
        for (int i = begins[blockOf[step] + 1] - 1; i > step; i--) {
            transfer(steps.get(i), live);
        }
        return live;
    }

    private BitSet liveAfterBlock(int block) {
        BitSet live = new BitSet();
        successors(block).forEach(next -> live.or(liveIn[next]));
        return live;
    }

    private List<Integer> successors(int block) {
        int last = begins[block + 1] - 1;
        List<Integer> next = new ArrayList<>();
        branches(steps.get(last)).forEach(target -> next.add(blockOf[target]));
        if (fallsThrough(steps.get(last)) && last + 1 < steps.size()) {
            next.add(blockOf[last + 1]);
        }
        return next;
    }

    private static void transfer(Step step, BitSet live) {
        BitSet killed = new BitSet();
        RegisterUse.kills(step, killed);
        live.andNot(killed);
        RegisterUse.reads(step, live::set);
    }

    private BitSet[] solve() {
        BitSet[] in = new BitSet[begins.length - 1];
        List<List<Integer>> successors = new ArrayList<>();
        for (int block = 0; block < in.length; block++) {
            in[block] = new BitSet();
            successors.add(successors(block));
        }
        boolean changed = true;
        while (changed) {
            changed = false;
            for (int block = in.length - 1; block >= 0; block--) {
                BitSet live = new BitSet();
                successors.get(block).forEach(next -> live.or(in[next]));
                for (int i = begins[block + 1] - 1; i >= begins[block]; i--) {
                    transfer(steps.get(i), live);
                }
                changed |= !live.equals(in[block]);
                in[block] = live;
            }
        }
        return in;
    }
}

package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.WindowPlaces.Value;
import io.tessera.guardian.machine.align.AlignmentPlan;
import io.tessera.guardian.machine.code.GlobalForm;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.verify.FencedRegisters;
import io.tessera.guardian.machine.verify.InFlightFlow;
import io.tessera.guardian.machine.verify.SummedAddresses;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The fence instructions that change address registers, and the instructions of their block before which they are placed. Where possible, they are
 * placed so early that no thread waits for them, between unrelated instructions. One owner thread.
 */
final class BlockFences {
    /** Cycles after which any instruction that has no scoreboard has written its uniform registers. */
    private static final int AFTER_ANY_UNIFORM = 30;

    private final SectionFlow flow;
    private final MachineFence fence;
    private final FencePlan plan;
    private final InFlightFlow.Additions additions;
    private final Map<Integer, List<Consumer<CodeBuilder>>> before = new HashMap<>();
    private final Map<Integer, Late> lates = new HashMap<>();
    /** Indexed by pair of uniform registers: the last access at which its bounds are computed. */
    private final int[] computed = new int[InstructionWord.ZERO_UNIFORM + 1];

    BlockFences(SectionFlow flow, MachineFence fence, FencePlan plan, InFlightFlow.Additions additions) {
        this.flow = flow;
        this.fence = fence;
        this.plan = plan;
        this.additions = additions;
    }

    /** Puts what comes before an instruction into the code. */
    void put(CodeBuilder out, int at) {
        List<Consumer<CodeBuilder>> steps = before.isEmpty() ? null : before.remove(at);
        if (steps != null) {
            out.interrupt();
            steps.forEach(step -> step.accept(out));
        }
    }

    private void add(int at, Consumer<CodeBuilder> step) {
        before.computeIfAbsent(at, _ -> new ArrayList<>()).add(step);
    }

    /** Puts the steps of the fence of an access that come directly before it, with other instructions between them. Returns the first one that is not among these. */
    int put(CodeBuilder out, int at, PassedInstructions passed, IntConsumer putOther) {
        Late late = lates.isEmpty() ? null : lates.remove(at);
        int next = at + 1;
        for (int i = 0; late != null && i < late.steps().length; i++) {
            int end = next;
            int cycles = Encoding.APART;
            while (cycles < Encoding.BEFORE_ACCESS && !before.containsKey(end) && !lates.containsKey(end) && passed.mayPass(at, end)) {
                cycles += InstructionWord.cycles(flow.high(end));
                end++;
            }
            out.interrupt();
            late.steps()[i].put(out, Encoding.APART + Math.max(0, Encoding.BEFORE_ACCESS - cycles), i == 0 ? late.waits() : 0);
            for (; next < end; next++) {
                putOther.accept(next);
            }
        }
        if (next > at + 1) {
            out.interrupt();
        }
        return next;
    }

    /** Steps directly before their access, the first of which waits for scoreboards. */
    private record Late(Step[] steps, int waits) {
        /** All of these after all of another's. */
        static Late join(Late one, Late two) {
            return new Late(Stream.of(one.steps, two.steps).flatMap(Arrays::stream).toArray(Step[]::new), one.waits | two.waits);
        }
    }

    /** One instruction of a fence, whose result is available after this many cycles, after it has waited for scoreboards. */
    private interface Step {
        void put(CodeBuilder out, int stall, int waits);
    }

    /**
     * Forces the high word of an address register into the window, unless it is known to be there.
     *
     * @throws MachineCodeException if the access has no address register of 64 bits
     */
    void force(FencedRegisters known, int at, MachineOpcode operation) throws MachineCodeException {
        long low = flow.low(at);
        int register = InstructionWord.source(low) + 1;
        int predicate = InstructionWord.predicate(low);
        if (register >= InstructionWord.ZERO_REGISTER || (register & 1) == 0) {
            throw new MachineCodeException("a " + operation.name() + " with an absolute address", at * InstructionWord.BYTES);
        }
        if (known.isFenced(register, predicate)) {
            return;
        }
        if (fence.mask() == 0) {
            place(at, register, (out, stall, waits) -> Encoding.move(out, register, out.naming(Value.BASE, fence), predicate, stall, waits));
        } else if (plan.hasRegister()) {
            place(at, register, (out, stall, waits) -> Encoding.andOr(out, register, fence.mask(), plan.baseRegister(), predicate, stall, waits));
        } else {
            place(at, register, (out, stall, waits) -> Encoding.or(out, register, out.naming(Value.BASE, fence), predicate, stall, waits),
                    (out, stall, waits) -> Encoding.and(out, register, out.naming(Value.LAST, fence), predicate, stall, waits));
        }
    }

    /** Computes bounds before a loop. Their addends may have been written just before. */
    void beforeLoop(FencedRegisters known, int at) {
        int[] all = plan.bounds().before(at);
        if (all.length == 0) {
            return;
        }
        int[] missing = IntStream.of(all).filter(added -> !known.areBounds(plan.bounds().of(added), added + 1)).toArray();
        if (missing.length > 0) {
            add(at, out -> Encoding.delay(out, AFTER_ANY_UNIFORM));
        }
        for (int added : missing) {
            bounds(at, added, 0);
        }
    }

    private void bounds(int at, int added, int waits) {
        int pair = plan.bounds().of(added);
        computed[pair] = at;
        add(at, out -> Encoding.differenceUniform(out, pair, out.naming(Value.BELOW, fence), added + 1, Encoding.APART, waits));
        add(at, out -> Encoding.differenceUniform(out, pair + 1, out.naming(Value.LAST, fence), added + 1, Encoding.UNIFORM_BEFORE_ACCESS, 0));
    }

    private void place(int at, int register, Step... steps) {
        placeFrom(at, additions.place(at, register), steps);
    }

    /** Changes a register before an access, where the predicate of that holds. */
    void align(int at, AlignmentPlan.Change change) {
        int register = change.register();
        int predicate = InstructionWord.predicate(flow.low(at));
        Step clear = (out, stall, waits) -> Encoding.and(out, register, ~change.cleared(), predicate, stall, waits);
        Step set = (out, stall, waits) -> Encoding.or(out, register, change.set(), predicate, stall, waits);
        if (change.cleared() != 0 && change.set() != 0) {
            place(at, register, clear, set);
        } else {
            place(at, register, change.set() == 0 ? clear : set);
        }
    }

    /**
     * Places steps of a fence, each of which uses the result of the previous one, so that the access uses that of the last. No step is placed before
     * the instruction {@code first}.
     */
    private void placeFrom(int at, int first, Step... steps) {
        if (first == at) {
            int cycles = additions.delays().getOrDefault(at, 0);
            if (cycles > 0) {
                add(at, out -> Encoding.delay(out, cycles));
            }
            lates.merge(at, new Late(steps, InstructionWord.waits(flow.high(at)) | additions.waits().getOrDefault(at, 0)), Late::join);
            return;
        }
        int[] places = new int[steps.length];
        int[] stalls = new int[steps.length];
        int user = at;
        for (int i = steps.length - 1; i >= 0; i--) {
            int cycles = Encoding.APART;
            int place = user;
            while (place > first && cycles < Encoding.BEFORE_ACCESS) {
                place--;
                cycles += InstructionWord.cycles(flow.high(place));
            }
            places[i] = place;
            stalls[i] = Encoding.APART + Math.max(0, Encoding.BEFORE_ACCESS - cycles);
            user = place;
        }
        for (int i = 0; i < steps.length; i++) {
            Step step = steps[i];
            int stall = stalls[i];
            add(places[i], out -> step.put(out, stall, 0));
        }
    }

    /**
     * Adds the fence of an access that adds a uniform register to its address; see {@link SummedAddresses}.
     *
     * @return the uniform register that replaces that of the access, whose fence has its own form; 0 if the access stays unchanged
     * @throws MachineCodeException if its form is not known or there are no registers for it
     */
    int sum(FencedRegisters known, int at, GlobalForm form) throws MachineCodeException {
        long low = flow.low(at);
        long high = flow.high(at);
        int register = InstructionWord.source(low);
        int uniform = form.uniform(low, high);
        int pair = plan.bounds().of(uniform);
        boolean absolute = register == InstructionWord.ZERO_REGISTER;
        if (pair == 0 || form.isWide(high) != SummedAddresses.isWide(absolute, flow.architecture()) || (register & 1) != 0 && !absolute
                || (uniform & 1) != 0) {
            throw new MachineCodeException("a " + flow.operation(at).name() + " that adds a uniform register to its address",
                    at * InstructionWord.BYTES);
        }
        int waits = InstructionWord.waits(high) | additions.waits().getOrDefault(at, 0);
        if (absolute) {
            requireStall(at, uniform);
            add(at, out -> Encoding.copyUniform(out, pair, uniform, waits));
            add(at, out -> Encoding.orUniform(out, pair + 1, uniform + 1, out.naming(Value.BASE, fence)));
            add(at, out -> Encoding.andUniform(out, pair + 1, out.naming(Value.LAST, fence), flow.architecture()));
            return pair;
        }
        int predicate = InstructionWord.predicate(low);
        Step raise = (out, stall, mask) -> Encoding.atLeast(out, flow.architecture(), register + 1, pair, predicate, stall, mask);
        Step lower = (out, stall, mask) -> Encoding.atMost(out, flow.architecture(), register + 1, pair + 1, predicate, stall, mask);
        if (known.areBounds(pair, uniform + 1)) {
            placeFrom(at, Math.max(additions.place(at, register + 1), computed[pair]), raise, lower);
            return 0;
        }
        requireStall(at, uniform);
        bounds(at, uniform, waits);
        lates.put(at, new Late(new Step[] {raise, lower}, 0));
        return 0;
    }

    /** A uniform register is read earlier than without a fence: what writes it is not directly before. */
    private void requireStall(int at, int uniform) {
        for (int i = at - 1; i >= Math.max(0, at - Encoding.UNIFORM_BEFORE_ACCESS); i--) {
            if (flow.operation(i).writesUniform(flow.low(i), uniform) || flow.operation(i).writesUniform(flow.low(i), uniform + 1)) {
                add(at, out -> Encoding.nothing(out, Encoding.UNIFORM_BEFORE_ACCESS));
                return;
            }
        }
    }
}

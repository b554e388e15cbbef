package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.TensorMapPlaces;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.SectionFlow;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Finds the tensor maps that a kernel uses for copies. A map defines which memory a copy reaches, so a kernel is safe if all its maps are parameters,
 * which its launcher checks. Stateless.
 */
public final class TensorMapAddresses {
    /** More instructions than compilers put between {@code WARPSYNC.COLLECTIVE} and {@code ENDCOLLECTIVE}. */
    private static final int MOST_TOGETHER = 8;

    private TensorMapAddresses() {
    }

    /**
     * Finds the maps.
     *
     * @param relocated offsets to which relocations write: nothing is known of the results there
     * @param kernel    whether the section is that of a kernel; otherwise any kernel may call its function
     * @return their positions in the parameters; {@link TensorMapPlaces#NONE} if the code uses no tensor map
     * @throws MachineCodeException if a map is not shown to lie in the parameters
     */
    public static TensorMapPlaces find(SectionFlow flow, Set<Long> relocated, boolean kernel) throws MachineCodeException {
        int first = firstCopy(flow);
        if (first < 0) {
            return TensorMapPlaces.NONE;
        }
        TreeSet<Integer> single = new TreeSet<>();
        TreeSet<Integer> many = new TreeSet<>();
        if (!kernel) {
            throw unseen(flow, first);
        }
        BitSet together = writtenTogether(flow);
        Map<Integer, ScalarRegisters> known = solve(flow, relocated, together);
        ScalarRegisters registers = new ScalarRegisters();
        for (int block = 0; block < flow.count(); block = flow.blockEnd(block)) {
            if (known.containsKey(block)) {
                registers.set(known.get(block));
            } else {
                registers.forget();
            }
            for (int i = block; i < flow.blockEnd(block); i++) {
                if (flow.operation(i).kind() == Kind.TENSOR) {
                    ScalarValue map = map(flow, i, registers);
                    (map.kind() == ScalarValue.Kind.MAP_OF_MANY ? many : single).addAll(map.numbers());
                }
                step(flow, i, relocated, together, registers);
            }
        }
        return new TensorMapPlaces(single, many, registers.isConditional());
    }

    private static int firstCopy(SectionFlow flow) {
        for (int i = 0; i < flow.count(); i++) {
            if (flow.operation(i).kind() == Kind.TENSOR) {
                return i;
            }
        }
        return -1;
    }

    private static ScalarValue map(SectionFlow flow, int at, ScalarRegisters registers) throws MachineCodeException {
        int register = InstructionWord.source(flow.low(at));
        if (register >= InstructionWord.ZERO_UNIFORM || (register & 1) != 0
                || !registers.uniform(register).isLowWord()
                || registers.uniform(register + 1).kind() != ScalarValue.Kind.HIGH_WORD
                || registers.uniform(register).numbers().getFirst() < 0) {
            throw unseen(flow, at);
        }
        return registers.uniform(register);
    }

    private static MachineCodeException unseen(SectionFlow flow, int at) {
        return new MachineCodeException("a " + flow.operation(at).name() + ", whose tensor map is not seen to be a parameter",
                at * InstructionWord.BYTES);
    }

    /** Returns the facts at the start of each reachable block. */
    private static Map<Integer, ScalarRegisters> solve(SectionFlow flow, Set<Long> relocated, BitSet together) {
        Map<Integer, ScalarRegisters> atStart = new HashMap<>();
        BitSet open = new BitSet();
        for (int block = 0; block < flow.count(); block = flow.blockEnd(block)) {
            if (isEntered(flow, block, together)) {
                atStart.put(block, new ScalarRegisters());
                open.set(block);
            }
        }
        ScalarRegisters registers = new ScalarRegisters();
        int at = 0;
        while (!open.isEmpty()) {
            at = open.nextSetBit(at) < 0 ? open.nextSetBit(0) : open.nextSetBit(at); // Continues from the last block, so that inner loops come first.
            open.clear(at);
            int end = flow.blockEnd(at);
            registers.set(atStart.get(at));
            for (int i = at; i < end; i++) {
                step(flow, i, relocated, together, registers);
                if (flow.operation(i).kind() == Kind.MEETING) {
                    registers.meets(flow.barrier(i), flow.isAlways(i) ? flow.target(i) : ScalarRegisters.UNKNOWN_PLACE);
                }
            }
            registers.endBlock();
            for (int next : successors(flow, end - 1, registers)) {
                ScalarRegisters known = atStart.get(next);
                if (known == null) {
                    known = new ScalarRegisters();
                    known.set(registers);
                    atStart.put(next, known);
                    open.set(next);
                } else if (!isEntered(flow, next, together) && known.meet(registers)) {
                    open.set(next);
                }
            }
        }
        return atStart;
    }

    private static boolean isEntered(SectionFlow flow, int at, BitSet together) {
        return together != null ? flow.isCalled(at) : flow.isEntered(at);
    }

    private static void step(SectionFlow flow, int at, Set<Long> relocated, BitSet together, ScalarRegisters registers) {
        BitSet written = flow.operation(at).kind() == Kind.CALL ? CalledCode.writes(flow, flow.target(at)) : null;
        if (written != null) {
            registers.afterCall(written);
        } else if (together != null && flow.operation(at).kind() == Kind.COLLECTIVE) {
            registers.forget(together);
        } else {
            new ScalarEffects(registers).after(flow.low(at), flow.high(at), flow.operation(at));
        }
        if (relocated.contains((long) at * InstructionWord.BYTES)) {
            BitSet own = new BitSet();
            ScalarRegisters.written(own, flow.low(at), flow.high(at), flow.operation(at));
            registers.forget(own);
        }
    }

    /**
     * Returns the registers that collective operations after any {@code WARPSYNC.COLLECTIVE} may write. All of them count at each such place, because
     * any of the operations may run there. Compilers put one {@code SHFL} or {@code VOTE} there, and {@code ENDCOLLECTIVE}.
     *
     * @return general registers; null if they may also write uniform registers, or more
     */
    private static BitSet writtenTogether(SectionFlow flow) {
        BitSet written = new BitSet();
        for (int i = 0; i < flow.count(); i++) {
            if (flow.operation(i).kind() == Kind.COLLECTIVE && !addWritten(written, flow, i + 1)) {
                return null;
            }
        }
        return written;
    }

    private static boolean addWritten(BitSet written, SectionFlow flow, int from) {
        for (int i = from; i < Math.min(from + MOST_TOGETHER, flow.count()); i++) {
            MachineOpcode operation = flow.operation(i);
            if (operation.name().equals("ENDCOLLECTIVE")) {
                return InstructionWord.predicate(flow.low(i)) == InstructionWord.ALWAYS;
            }
            if (operation.uniforms() != 0 || operation.kind() != Kind.PLAIN || operation.name().equals("BMOV")
                    || !ScalarRegisters.written(written, flow.low(i), flow.high(i), operation)) {
                return false;
            }
        }
        return false;
    }

    private static int[] successors(SectionFlow flow, int last, ScalarRegisters registers) {
        int[] all = flow.successors(last);
        if (flow.operation(last).kind() != Kind.MEET || registers.meeting(flow.barrier(last)) == ScalarRegisters.UNKNOWN_PLACE) {
            return all;
        }
        int meeting = registers.meeting(flow.barrier(last));
        return flow.fallsThrough(last) && last + 1 < flow.count() ? new int[] {last + 1, meeting} : new int[] {meeting};
    }
}

package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.SectionFlow;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Where the tensor maps lie that a kernel copies by. A map says which memory a copy reaches, so a kernel is safe if all its maps are parameters, which whoever launches it
 * looks at. Stateless.
 */
public final class TensorMapAddresses {
    private TensorMapAddresses() {
    }

    /**
     * Finds them.
     *
     * @param kernel whether the section is a kernel's, else a function's that any kernel may call
     * @return distances in bytes from the start of the parameters, sorted; empty: the code copies by no tensor map
     * @throws MachineCodeException if a map is not seen to lie in the parameters
     */
    public static Set<Integer> find(SectionFlow flow, boolean kernel) throws MachineCodeException {
        TreeSet<Integer> found = new TreeSet<>();
        int first = firstCopy(flow);
        if (first < 0) {
            return found;
        }
        if (!kernel) {
            throw unseen(flow, first);
        }
        Map<Integer, UniformRegisters> known = solve(flow);
        UniformRegisters registers = new UniformRegisters();
        for (int block = 0; block < flow.count(); block = flow.blockEnd(block)) {
            if (known.containsKey(block)) {
                registers.set(known.get(block));
            } else {
                registers.forget();
            }
            for (int i = block; i < flow.blockEnd(block); i++) {
                if (flow.operation(i).kind() == Kind.TENSOR) {
                    found.addAll(map(flow, i, registers));
                }
                registers.after(flow.low(i), flow.high(i), flow.operation(i));
            }
        }
        return found;
    }

    private static int firstCopy(SectionFlow flow) {
        for (int i = 0; i < flow.count(); i++) {
            if (flow.operation(i).kind() == Kind.TENSOR) {
                return i;
            }
        }
        return -1;
    }

    private static Set<Integer> map(SectionFlow flow, int at, UniformRegisters registers) throws MachineCodeException {
        int register = InstructionWord.source(flow.low(at));
        if (register >= InstructionWord.ZERO_UNIFORM || (register & 1) != 0
                || registers.get(register).kind() != UniformValue.Kind.LOW_WORD
                || registers.get(register + 1).kind() != UniformValue.Kind.HIGH_WORD
                || registers.get(register).numbers().getFirst() < 0) {
            throw unseen(flow, at);
        }
        return Set.copyOf(registers.get(register).numbers());
    }

    private static MachineCodeException unseen(SectionFlow flow, int at) {
        return new MachineCodeException("a " + flow.operation(at).name() + ", whose tensor map is not seen to be a parameter",
                at * InstructionWord.BYTES);
    }

    /** What is known at the start of each block that a way leads to. */
    private static Map<Integer, UniformRegisters> solve(SectionFlow flow) {
        Map<Integer, UniformRegisters> atStart = new HashMap<>();
        Deque<Integer> open = new ArrayDeque<>();
        for (int at = 0; at < flow.count(); at = flow.blockEnd(at)) {
            if (flow.isEntered(at)) {
                atStart.put(at, new UniformRegisters());
                open.add(at);
            }
        }
        UniformRegisters registers = new UniformRegisters();
        while (!open.isEmpty()) {
            int at = open.remove();
            int end = flow.blockEnd(at);
            registers.set(atStart.get(at));
            for (int i = at; i < end; i++) {
                registers.after(flow.low(i), flow.high(i), flow.operation(i));
                if (flow.operation(i).kind() == Kind.MEETING) {
                    registers.meets(flow.barrier(i), flow.target(i));
                }
            }
            for (int next : successors(flow, end - 1, registers)) {
                UniformRegisters known = atStart.get(next);
                if (known == null) {
                    known = new UniformRegisters();
                    known.set(registers);
                    atStart.put(next, known);
                    open.add(next);
                } else if (!flow.isEntered(next) && known.meet(registers)) {
                    open.add(next);
                }
            }
        }
        return atStart;
    }

    private static int[] successors(SectionFlow flow, int last, UniformRegisters registers) {
        int[] all = flow.successors(last);
        if (flow.operation(last).kind() != Kind.MEET || registers.meeting(flow.barrier(last)) == UniformRegisters.UNKNOWN_PLACE) {
            return all;
        }
        int meeting = registers.meeting(flow.barrier(last));
        return flow.fallsThrough(last) && last + 1 < flow.count() ? new int[] {last + 1, meeting} : new int[] {meeting};
    }
}

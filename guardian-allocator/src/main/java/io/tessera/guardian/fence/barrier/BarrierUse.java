package io.tessera.guardian.fence.barrier;

import io.tessera.guardian.fence.instruction.CallSite;
import io.tessera.guardian.fence.instruction.InstructionClass;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.Statement;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * The barriers of a block at which functions wait, and which of these have to become {@code NamedBarriers}: those with a number of their own or a
 * count of threads. A GPU ends the context if the lanes of one warp wait at two barriers, or at one barrier with two counts, in different places of
 * the program (seen on an H200). Code that can reach only one barrier needs no checks.
 *
 * <p>Kernels are judged separately unless they share a device function that may reach a barrier: the barriers of one kernel do not slow down the
 * others. Not thread-safe.
 */
public final class BarrierUse {
    /** {@code bar.sync 0} without a count. */
    private static final List<Operand> WHOLE_BLOCK = List.of(Code.number(0));

    private final Map<Instruction, InstructionClass> classes;
    private final Map<PtxFunction, Part> parts = new IdentityHashMap<>();
    private final boolean contained;

    /** A function with a body, in a group of functions whose threads may meet at a barrier. Groups are a union-find forest; a root stands for its group. */
    private static final class Part {
        final Set<List<Operand>> own = new HashSet<>();
        final List<Part> callers = new ArrayList<>();
        /** Whether the part or one of its possible callees waits at a barrier. */
        boolean waits;
        Part parent = this;
        /** The barriers of a root's whole group, and of the device functions in it. */
        final Set<List<Operand>> all = new HashSet<>();
        final Set<List<Operand>> inDeviceFunctions = new HashSet<>();

        Part root() {
            Part at = this;
            while (at.parent != at) {
                at.parent = at.parent.parent;
                at = at.parent;
            }
            return at;
        }
    }

    /**
     * Collects the barriers of all functions of a module, whose instructions are classified.
     *
     * @param named     returns the function with a name or alias, or null
     * @param contained whether the stop word must end threads that wait at barriers
     */
    public BarrierUse(List<PtxFunction> functions, Function<String, PtxFunction> named, Map<Instruction, InstructionClass> classes,
            boolean contained) {
        this.classes = classes;
        this.contained = contained;
        List<PtxFunction> bodies = functions.stream().filter(function -> function.body().isPresent()).toList();
        bodies.forEach(function -> parts.put(function, new Part()));
        Part anywhere = new Part();
        bodies.forEach(function -> collect(function.body().get(), parts.get(function), named, anywhere));
        // An indirect call may lead to any device function.
        bodies.stream().filter(function -> !anywhere.callers.isEmpty() && function.kind() == PtxFunction.Kind.FUNC)
                .forEach(function -> parts.get(function).callers.add(anywhere));
        group();
        for (PtxFunction function : bodies) {
            Part part = parts.get(function);
            part.root().all.addAll(part.own);
            part.root().inDeviceFunctions.addAll(function.kind() == PtxFunction.Kind.FUNC ? part.own : Set.of());
        }
    }

    private void collect(Block block, Part into, Function<String, PtxFunction> named, Part anywhere) {
        for (Statement statement : block.statements()) {
            if (!(statement instanceof Instruction instruction)) {
                continue;
            }
            if (classes.get(instruction) instanceof InstructionClass.Barrier) {
                into.own.add(List.copyOf(numbers(instruction)));
            } else if (instruction.opcode().equals("call")) {
                String name = CallSite.of(instruction).function();
                Part callee = name == null ? anywhere : parts.get(named.apply(name));
                if (callee != null) {
                    callee.callers.add(into);
                }
            }
        }
    }

    /** Puts callers into the groups of those callees that may reach a barrier. */
    private void group() {
        Deque<Part> open = new ArrayDeque<>();
        for (Part part : parts.values()) {
            if (!part.own.isEmpty()) {
                part.waits = true;
                open.add(part);
            }
        }
        while (!open.isEmpty()) {
            Part callee = open.poll();
            for (Part caller : callee.callers) {
                caller.root().parent = callee.root();
                if (!caller.waits) {
                    caller.waits = true;
                    open.add(caller);
                }
            }
        }
    }

    /**
     * Returns whether an instruction of a function waits at a barrier in shared memory. This includes a barrier whose number is also used with a
     * count, since otherwise the threads of the two would not meet.
     */
    public boolean isNamed(PtxFunction function, Instruction barrier) {
        return contained && isNamed(numbers(barrier), parts.get(function).root());
    }

    private static boolean isNamed(List<Operand> barrier, Part group) {
        return !barrier.equals(WHOLE_BLOCK) || group.all.stream().anyMatch(other -> !other.equals(WHOLE_BLOCK)
                && (other.getFirst().equals(WHOLE_BLOCK.getFirst()) || !(other.getFirst() instanceof Operand.Immediate)));
    }

    /** Returns whether a function, or a device function that it may call, waits at a barrier in shared memory. */
    public boolean hasNamed(PtxFunction function) {
        return contained && all(function).stream().anyMatch(barrier -> isNamed(barrier, parts.get(function).root()));
    }

    /** Returns whether threads of a kernel that runs this function may wait at different barriers, here or elsewhere. */
    public boolean isMixed(PtxFunction function) {
        return hasNamed(function) || isMixed(all(function));
    }

    private Set<List<Operand>> all(PtxFunction function) {
        Part part = parts.get(function);
        if (function.kind() == PtxFunction.Kind.FUNC) {
            return part.root().all;
        }
        Set<List<Operand>> all = new HashSet<>(part.root().inDeviceFunctions);
        all.addAll(part.own);
        return all;
    }

    /** Returns whether there are several barriers, or one with an operand that is known only when the kernel runs. */
    private static boolean isMixed(Set<List<Operand>> barriers) {
        return barriers.size() > 1 || barriers.stream().flatMap(List::stream)
                .anyMatch(operand -> !(operand instanceof Operand.Immediate));
    }

    /** Returns the barrier's number, and the count of threads if the instruction has one. */
    public static List<Operand> numbers(Instruction i) {
        int from = first(i);
        return i.operands().subList(from, Math.min(i.operands().size(), from + (isCounted(i) ? 2 : 1)));
    }

    /** Index of the operand of a {@code barrier} or {@code bar} that holds the barrier's number. */
    public static int first(Instruction i) {
        return i.has("red") ? 1 : 0;
    }

    /** Returns whether a {@code barrier} or {@code bar} has a count of threads. */
    public static boolean isCounted(Instruction i) {
        return i.operands().size() == (i.has("red") ? 4 : 2);
    }
}

package io.tessera.guardian.fence.control;

import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Guard;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Label;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.RegisterDeclaration;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.TargetList;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Has each block of a cluster stay until all threads of its cluster have ended: an access to the shared memory of a block that has ended ends the context
 * (seen on an H200: error 719). The first thread of a block arrives at the cluster's barrier and waits there before it ends, once more than other threads
 * can arrive before they have ended; so arrivals of the program are in no loop. The other threads end once their accesses are made, as barriers of their
 * block and exchanges in their warps count on. A thread that has arrived already waits for that first, since two arrivals without a wait are undefined.
 * For modules whose accesses may be of other blocks ({@code ModulePlan.reachesBlocks}). Not thread-safe.
 */
public final class ClusterWaits {
    private static final String PREDICATE = WindowConstants.PREFIX.replace("__", "%__") + "end_p";
    private static final String WORD = WindowConstants.PREFIX.replace("__", "%__") + "end_r";
    /** Arrivals of a kernel: each end has as many barriers, and one more. */
    private static final int MOST_ARRIVALS = 16;
    private static final int NONE = 1;
    private static final int PENDING = 2;

    private final PtxFunction function;
    private final List<Instruction> code = new ArrayList<>();
    private final Map<String, Integer> labels = new HashMap<>();
    private final Map<String, List<String>> tables = new HashMap<>();
    /** Of each instruction: the states in which it may be reached, {@link #NONE} and {@link #PENDING}; 0: it is never reached. */
    private final int[] states;
    private final Deque<Integer> open = new ArrayDeque<>();

    /** For a function that is fenced and has a body. */
    public ClusterWaits(PtxFunction function) {
        this.function = function;
        for (Statement statement : function.body().orElseThrow().statements()) {
            switch (statement) {
                case Instruction instruction -> code.add(instruction);
                case Label label -> labels.put(label.name(), code.size());
                case TargetList list -> tables.put(list.name(), list.targets());
                default -> {}
            }
        }
        this.states = new int[code.size()];
        find();
    }

    private void find() {
        if (states.length > 0) {
            reach(0, NONE);
        }
        while (!open.isEmpty()) {
            int at = open.remove();
            Instruction i = code.get(at);
            int after = after(i, states[at]);
            followers(at).forEach(follower -> reach(follower, after));
        }
    }

    private List<Integer> followers(int at) {
        Instruction i = code.get(at);
        List<Integer> found = new ArrayList<>(2);
        targets(i).forEach(target -> found.add(labels.getOrDefault(target, code.size())));
        boolean leaves = i.opcode().startsWith("br") || i.opcode().equals("ret") || i.opcode().equals("exit");
        if (!leaves || i.guard().isPresent()) {
            found.add(at + 1);
        }
        found.removeIf(each -> each >= code.size());
        return found;
    }

    private void reach(int at, int state) {
        if ((states[at] | state) != states[at]) {
            states[at] |= state;
            open.add(at);
        }
    }

    private List<String> targets(Instruction i) {
        boolean branch = i.opcode().equals("bra") || i.opcode().equals("brx");
        return branch && i.operands().getLast() instanceof Operand.Symbol(String name, long _) ? tables.getOrDefault(name, List.of(name)) : List.of();
    }

    private static int after(Instruction i, int before) {
        int done = arrives(i) ? PENDING : isBarrier(i) ? NONE : before;
        return i.guard().isPresent() ? before | done : done;
    }

    private static boolean isBarrier(Instruction i) {
        return i.opcode().equals("barrier") && i.has("cluster");
    }

    private static boolean arrives(Instruction i) {
        return isBarrier(i) && i.has("arrive");
    }

    private boolean ends(Instruction i) {
        return i.opcode().equals("exit") || i.opcode().equals("ret") && function.kind() == PtxFunction.Kind.ENTRY;
    }

    /**
     * Refuses a function whose ends cannot wait.
     *
     * @throws FenceRefusedException if it is not known how often its threads arrive at the cluster's barrier, or, at an end, a call or an arrival, whether
     *                               they have arrived without having waited
     */
    public void check() throws FenceRefusedException {
        for (int at = 0; at < states.length; at++) {
            Instruction i = code.get(at);
            if (arrives(i) && (arrivals() > MOST_ARRIVALS || comesAgain(at))) {
                throw refused(i,
                        "in a loop, or one of more than " + MOST_ARRIVALS
                                + ": how often threads arrive at the cluster's barrier has to be known, since "
                                + "the module reaches into other blocks' shared memory");
            }
            if (isBarrier(i) && function.kind() != PtxFunction.Kind.ENTRY) {
                throw refused(i,
                        "a function that is called cannot tell whether its caller has arrived at the cluster's barrier, and the module reaches "
                                + "into other blocks' shared memory");
            }
            if ((arrives(i) || i.opcode().equals("call")) && (states[at] & PENDING) != 0) {
                throw refused(i, "may come after an arrival at the cluster's barrier and before the wait for it");
            }
            if (ends(i) && states[at] == (NONE | PENDING)) {
                throw refused(i, "the thread may end after an arrival at the cluster's barrier and before the wait for it, or without one");
            }
        }
    }

    /** Whether an instruction may be executed again after it was executed. */
    private boolean comesAgain(int start) {
        BitSet seen = new BitSet();
        Deque<Integer> next = new ArrayDeque<>(List.of(start));
        while (!next.isEmpty()) {
            for (int follower : followers(next.remove())) {
                if (follower == start) {
                    return true;
                }
                if (!seen.get(follower)) {
                    seen.set(follower);
                    next.add(follower);
                }
            }
        }
        return false;
    }

    /** Arrivals of the function at the cluster's barrier. */
    public int arrivals() {
        return (int) code.stream().filter(ClusterWaits::arrives).count();
    }

    private static FenceRefusedException refused(Instruction i, String reason) {
        return new FenceRefusedException(i.mnemonic(), i.line(), reason);
    }

    /**
     * The function whose ends wait, once {@link #check} has passed.
     *
     * @param times how often: more often than a kernel of the module arrives
     */
    public PtxFunction waiting(int times) {
        Block body = function.body().orElseThrow();
        List<Statement> statements = new ArrayList<>();
        statements.add(new RegisterDeclaration(ScalarType.PRED, PREDICATE, 1, function.line()));
        statements.add(new RegisterDeclaration(ScalarType.B32, WORD, 2, function.line()));
        int at = 0;
        for (Statement statement : body.statements()) {
            if (statement instanceof Instruction i) {
                if (ends(i)) {
                    hold(statements, i, states[at] == PENDING, times);
                }
                at++;
            }
            statements.add(statement);
        }
        return new PtxFunction(function.kind(), function.linkage(), function.name(), function.returns(), function.parameters(), function.attributes(),
                Optional.of(new Block(statements, body.line())), function.line());
    }

    private static void hold(List<Statement> statements, Instruction end, boolean pending, int times) {
        Operand.Register first = new Operand.Register(PREDICATE + "0");
        Operand.Register place = new Operand.Register(WORD + "0");
        Operand.Register other = new Operand.Register(WORD + "1");
        Optional<Guard> all = Optional.empty();
        Optional<Guard> holds = Optional.of(new Guard(first, false));
        int line = end.line();
        add(statements, end.guard(), "fence", List.of("acq_rel", "cluster"), List.of(), line);
        add(statements, all, "mov", List.of("u32"), List.of(place, new Operand.SpecialRegister("%tid", "x")), line);
        for (String axis : new String[] {"y", "z"}) {
            add(statements, all, "mov", List.of("u32"), List.of(other, new Operand.SpecialRegister("%tid", axis)), line);
            add(statements, all, "or", List.of("b32"), List.of(place, place, other), line);
        }
        add(statements, all, "mov", List.of("u32"), List.of(other, new Operand.SpecialRegister("%cluster_nctarank", "")), line);
        add(statements, all, "setp", List.of("eq", "u32"), List.of(first, other, Code.number(1)), line);
        add(statements, all, "selp", List.of("b32"), List.of(place, Code.number(1), place, first), line); // a block that is alone is nobody's to wait for
        if (end.guard().isPresent()) {
            Operand.Register guard = end.guard().get().register();
            add(statements, all, "setp", List.of("eq", "and", "u32"),
                    List.of(first, place, Code.number(0), end.guard().get().negated() ? new Operand.Not(guard) : guard), line);
        } else {
            add(statements, all, "setp", List.of("eq", "u32"), List.of(first, place, Code.number(0)), line);
        }
        if (pending) {
            add(statements, holds, "barrier", List.of("cluster", "wait"), List.of(), line);
        }
        for (int i = 0; i < times; i++) {
            add(statements, holds, "barrier", List.of("cluster", "arrive"), List.of(), line);
            add(statements, holds, "barrier", List.of("cluster", "wait"), List.of(), line);
        }
    }

    private static void add(List<Statement> statements, Optional<Guard> guard, String opcode, List<String> modifiers, List<Operand> operands,
            int line) {
        statements.add(new Instruction(guard, opcode, modifiers, operands, line));
    }
}

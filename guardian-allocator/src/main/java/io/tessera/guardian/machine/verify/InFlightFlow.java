package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.code.ResultTiming;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/**
 * Tracks instructions in flight (issued, with pending reads or writes of registers) over all paths through a section. A fence only counts if no earlier
 * instruction may write its register after it, and no instruction may write the register of a fenced address before the access has read it. Calls inside
 * the section are followed to the function and back. {@link #solve} checks that functions of other sections are called, and return, with nothing in
 * flight. One owner thread.
 */
public final class InFlightFlow {
    /** Average number of times, at most, that each block is visited. */
    private static final int MOST_WALKS = 64;
    private static final int NO_SCOREBOARD = 7;
    /** The scoreboard that is given to instructions that had none. */
    public static final int ADDED_SCOREBOARD = 5;

    private final SectionFlow flow;
    private final MachineFence fence;
    private final FencedRegisters known;
    private final boolean kernel;
    private final TrackedRegisters tracked = new TrackedRegisters();
    private final RegistersInFlight[] atStart;
    /** State where functions of the section return, and where branches use a table. */
    private final RegistersInFlight returning;
    private RegistersInFlight jumping;
    /** As above, at the convergence barriers. */
    private final RegistersInFlight[] meeting = new RegistersInFlight[SectionFlow.BARRIERS];
    /** Null if there is nothing to track. */
    private final IssueTable table;
    /** Steps of fences, and first instructions of reports. */
    private final BitSet steps = new BitSet();
    private final BitSet reports = new BitSet();
    /** Predicates of fences. */
    private int predicates;
    /** First instructions of rows of blocks, see {@link #rowEnd}. */
    private final BitSet rows = new BitSet();
    private final BitSet visited = new BitSet();
    private final BitSet open = new BitSet();
    private final BitSet unsettled = new BitSet();
    /** Indexed by access that gets a fence: the registers that it changes. */
    private final Map<Integer, int[]> forced = new HashMap<>();
    private static final int[] NO_REGISTERS = {};
    /** Whether missing additions are collected instead of refused. */
    private final boolean completes;
    private final Map<Integer, Integer> missing = new HashMap<>();
    private final Map<Integer, Integer> delays = new HashMap<>();
    private final BitSet withoutScoreboard = new BitSet();
    private final EarlyPlaces early;
    private final List<Integer> returned = new ArrayList<>();
    private boolean crosses;
    private String trusted;
    private boolean calls;

    /**
     * Creates the flow of a section.
     *
     * @param known  recognises instructions of fences
     * @param kernel whether it is entered only by a launch, and not by calls
     */
    InFlightFlow(SectionFlow flow, MachineFence fence, FencedRegisters known, boolean kernel) {
        this(flow, fence, known, kernel, _ -> NO_REGISTERS, false);
    }

    private InFlightFlow(SectionFlow flow, MachineFence fence, FencedRegisters known, boolean kernel, IntFunction<int[]> wanted,
            boolean completes) {
        this.completes = completes;
        this.flow = flow;
        this.fence = fence;
        this.known = known;
        this.kernel = kernel;
        this.early = new EarlyPlaces(flow);
        for (int i = 0; i < flow.count(); i++) {
            look(i, wanted);
        }
        table = tracked.isEmpty() && !crosses ? null : new IssueTable(flow, tracked, predicates, crosses);
        atStart = new RegistersInFlight[flow.count()];
        returning = new RegistersInFlight(tracked);
        jumping = new RegistersInFlight(tracked);
    }

    private void look(int at, IntFunction<int[]> wanted) {
        Kind kind = flow.operation(at).kind();
        boolean step = known.isStep(flow.low(at), flow.high(at));
        if (step) {
            steps.set(at);
            tracked.add(InstructionWord.destination(flow.low(at)));
            predicates |= 1 << (InstructionWord.predicate(flow.low(at)) & 7);
        }
        if (ReportSequence.begins(flow, at, fence)) {
            reports.set(at);
            tracked.add(0);
            tracked.add(1);
            tracked.add(2);
            predicates |= 1 << (InstructionWord.predicate(flow.low(at)) & 7);
        }
        int[] changed = wanted.apply(at);
        for (int register : changed) {
            early.wanted(at, register);
            tracked.add(register);
            predicates |= 1 << (InstructionWord.predicate(flow.low(at)) & 7);
        }
        if (changed.length > 0) {
            forced.put(at, changed);
        }
        if (kind == Kind.INDIRECT_BRANCH) {
            tracked.addResult(InstructionWord.source(flow.low(at)));
            tracked.addResult(InstructionWord.source(flow.low(at)) + 1);
        }
        boolean behindCall = at > 0 && isCall(flow.operation(at - 1).kind());
        if (behindCall) {
            returned.add(at);
        }
        if (at == 0 || behindCall || !flow.isOnlyFollowing(at) || flow.isLeader(at) && !flow.fallsThrough(at - 1)) {
            rows.set(at);
        }
        calls |= kind == Kind.CALL;
        crosses |= kind == Kind.CALL_SYMBOL || kind == Kind.CALL_REGISTER || kind == Kind.RETURN && !kernel;
    }

    /**
     * Additions with which the verifier can show that nothing in flight writes an address after its fence. Compilers know that some results are
     * available although nothing waited for them; the verifier does not.
     *
     * @param waits       by access, scoreboards for which its fence must wait, besides those of the access; by call of another section, those for
     *                    which the call must wait
     * @param scoreboards instructions that must release {@link #ADDED_SCOREBOARD} when they have written their result
     * @param delays      by access, cycles that must pass before its fence, since a result of a fixed latency may arrive until then
     * @param places      by access and register, the first instruction before which the register may be changed, if that is not the access itself
     */
    public record Additions(Map<Integer, Integer> waits, BitSet scoreboards, Map<Integer, Integer> delays, Map<EarlyPlaces.Change, Integer> places) {
        /** No additions. */
        public static final Additions NONE = new Additions(Map.of(), new BitSet(), Map.of(), Map.of());

        /** The first instruction before which a register may be changed for an access. */
        public int place(int access, int register) {
            return places.isEmpty() ? access : places.getOrDefault(new EarlyPlaces.Change(access, register), access);
        }
    }

    /**
     * Finds what is missing in code that gets fences.
     *
     * @param forced by instruction, the registers that a fence changes before it
     * @param kernel as for the constructor
     * @throws MachineCodeException as {@link #solve}
     */
    public static Additions additions(SectionFlow flow, MachineFence fence, IntFunction<int[]> forced, boolean kernel) throws MachineCodeException {
        InFlightFlow inFlight = new InFlightFlow(flow, fence, new FencedRegisters(flow.architecture(), fence, InstructionWord.ZERO_REGISTER), kernel,
                forced, true);
        inFlight.solve();
        return new Additions(inFlight.missing, inFlight.withoutScoreboard, inFlight.delays, inFlight.early.found());
    }

    private void add(RegistersInFlight state, int at, int register) {
        int boards = state.scoreboards(register, InstructionWord.predicate(flow.low(at)));
        for (ResultTiming unit : ResultTiming.values()) {
            if (state.isWrittenWithoutScoreboard(register, unit)) {
                boards |= 1 << ADDED_SCOREBOARD;
                for (int i = 0; i < flow.count(); i++) {
                    long low = flow.low(i);
                    int first = InstructionWord.destination(low);
                    if (ResultTiming.of(flow.architecture(), low, flow.high(i)) == unit
                            && InstructionWord.writeScoreboard(flow.high(i)) == NO_SCOREBOARD
                            && register >= first
                            && register < first + IssueTable.registers(low, flow.high(i), flow.operation(i), unit)) {
                        withoutScoreboard.set(i);
                    }
                }
            }
        }
        if (boards != 0) {
            missing.merge(at, boards, (one, two) -> one | two);
        }
        int cycles = state.cycles(register, InstructionWord.predicate(flow.low(at)));
        if (cycles > 0) {
            delays.merge(at, cycles, Math::max);
        }
    }

    private static boolean isCall(Kind kind) {
        return kind == Kind.CALL || leaves(kind);
    }

    private static boolean leaves(Kind kind) {
        return kind == Kind.CALL_SYMBOL || kind == Kind.CALL_REGISTER;
    }

    /**
     * Follows all paths until nothing changes, and checks each instruction.
     *
     * @throws MachineCodeException if a register is written that an access may still read, or if a function is called or returns while something is
     * in flight
     */
    void solve() throws MachineCodeException {
        if (tracked.isEmpty() && !crosses) {
            return;
        }
        if (calls) {
            walk(false);
            visited.clear();
            Arrays.fill(atStart, null);
            Arrays.fill(meeting, null);
            jumping = new RegistersInFlight(tracked);
        }
        walk(true);
        RegistersInFlight nothing = new RegistersInFlight(tracked);
        RegistersInFlight state = new RegistersInFlight(tracked);
        for (int at = 0; at < flow.count(); at = rowEnd(at)) {
            int end = rowEnd(at);
            state.set(visited.get(at) ? atStart[at] : nothing); // No known path leads to the other instructions.
            for (int entry = table.from(at); entry < table.from(end); entry++) {
                early.look(state, table, at, table.place(entry));
                state.at(table.cycles(at, table.place(entry)));
                check(state, table.place(entry), table.facts(entry));
            }
        }
    }

    /**
     * Follows all paths.
     *
     * @param intoCalls whether functions begin with the state in flight at their calls; otherwise they begin with nothing in flight, which determines
     *                  the state that they leave behind
     */
    private void walk(boolean intoCalls) throws MachineCodeException {
        RegistersInFlight state = new RegistersInFlight(tracked);
        for (int at = 0; at < flow.count(); at = flow.blockEnd(at)) {
            if (flow.isEntered(at) || at > 0 && leaves(flow.operation(at - 1).kind())) {
                reach(at, state);
            }
        }
        if (intoCalls) {
            returned.forEach(at -> reach(at, returning));
        }
        long walks = 0;
        for (int at = open.nextSetBit(0); at >= 0; at = open.nextSetBit(at + 1) < 0 ? open.nextSetBit(0) : open.nextSetBit(at + 1)) {
            open.clear(at);
            if (++walks > (long) MOST_WALKS * flow.count()) {
                throw new MachineCodeException("what is in flight is not found out in time");
            }
            state.set(atStart[at]);
            int end = rowEnd(at);
            int entry = table.from(at);
            for (int block = at; block < end; block = flow.blockEnd(block)) {
                int last = flow.blockEnd(block) - 1;
                for (; entry < table.from(last + 1); entry++) {
                    if (!IssueTable.isOver(table.facts(entry))) {
                        state.at(table.cycles(at, table.place(entry)));
                        step(state, table.facts(entry));
                    }
                }
                state.at(table.cycles(at, last + 1));
                leave(state, last, intoCalls);
            }
        }
    }

    /**
     * Returns the end of a sequence of blocks, each of which is reached only from the previous one. The results in flight are kept for the first
     * block.
     */
    private int rowEnd(int at) {
        int next = rows.nextSetBit(at + 1);
        return next < 0 ? flow.count() : next;
    }

    /** Returns a property that is not shown, although compiled code has it; null if there is none. */
    String trusted() {
        return trusted;
    }

    /**
     * Returns whether an instruction may be a step of a fence, or the first one of a report: no instruction in flight writes its result or its
     * predicate.
     */
    boolean isSettled(int at) {
        return !unsettled.get(at);
    }

    private void reach(int block, RegistersInFlight state) {
        boolean first = !visited.get(block);
        if (first) {
            visited.set(block);
            atStart[block] = new RegistersInFlight(tracked);
        }
        if (atStart[block].join(state) || first) {
            open.set(block);
        }
    }

    private void leave(RegistersInFlight state, int last, boolean intoCalls) {
        Kind kind = flow.operation(last).kind();
        if (kind == Kind.CALL && intoCalls) {
            reach(flow.target(last), state);
        } else if (kind == Kind.RETURN && !intoCalls && returning.join(state)) {
            returned.forEach(at -> reach(at, returning));
        } else if (kind == Kind.INDIRECT_BRANCH && jumping.join(state)) {
            for (int at = 0; at < flow.count(); at = flow.blockEnd(at)) {
                if (flow.isEntered(at)) {
                    reach(at, jumping);
                }
            }
        }
        if (leaves(kind)) {
            return;
        }
        if (rows.get(last + 1) && flow.following(last) != SectionFlow.NONE) {
            reach(last + 1, state);
        }
        if (flow.jump(last) != SectionFlow.NONE) {
            reach(flow.jump(last), state);
        }
        if (kind == Kind.MEET) {
            meet(state, last);
        }
    }

    /**
     * Threads that wait at a convergence barrier may continue at each of its meetings. The states of all waits are joined first, because a barrier may
     * have many waits and many meetings.
     */
    private void meet(RegistersInFlight state, int last) {
        int barrier = flow.barrier(last);
        boolean first = meeting[barrier] == null;
        if (first) {
            meeting[barrier] = new RegistersInFlight(tracked);
        }
        if (meeting[barrier].join(state) || first) {
            for (int next : flow.meetings(last)) {
                reach(next, meeting[barrier]);
            }
        }
    }

    private static void step(RegistersInFlight state, long facts) {
        state.await(facts);
        if (IssueTable.isMemory(facts)) {
            state.access(facts);
        }
        state.issue(facts);
    }

    private boolean isTargetWritten(RegistersInFlight state, int branch) {
        int register = InstructionWord.source(flow.low(branch));
        return register < InstructionWord.ZERO_REGISTER - 1 && (state.isWritten(register) || state.isWritten(register + 1));
    }

    private void check(RegistersInFlight state, int at, long facts) throws MachineCodeException {
        MachineOpcode operation = flow.operation(at);
        state.await(facts);
        boolean report = reports.get(at);
        if (steps.get(at) || report) {
            boolean written = state.isWritten(InstructionWord.destination(flow.low(at))) || report && (state.isWritten(1) || state.isWritten(2));
            boolean handed = at > 0 && InstructionWord.reuses(flow.high(at - 1));
            unsettled.set(at, written || handed || state.isPredicateWritten(InstructionWord.predicate(flow.low(at))));
        }
        for (int register : forced.getOrDefault(at, NO_REGISTERS)) {
            add(state, at, register);
        }
        if (trusted == null && !steps.get(at) && !IssueTable.isMemory(facts) && state.isRead(facts)) {
            trusted = "a " + operation.name() + " that may change an address before an access has read it at offset 0x"
                    + Integer.toHexString(at * InstructionWord.BYTES);
        }
        if (operation.kind() == Kind.INDIRECT_BRANCH && trusted == null && isTargetWritten(state, at)) {
            trusted = "a " + operation.name() + " whose target may change at offset 0x" + Integer.toHexString(at * InstructionWord.BYTES);
        }
        boolean crossing = leaves(operation.kind()) || operation.kind() == Kind.RETURN && !kernel;
        if (crossing && !state.isQuiet() && completes) {
            missing.put(at, state.scoreboards());
        } else if (crossing && !state.isQuiet()) {
            throw new MachineCodeException("a " + operation.name() + " while results are in flight", at * InstructionWord.BYTES);
        }
        if (crossing && state.isReading() && trusted == null) {
            trusted = "a " + operation.name() + " before all accesses have read their addresses at offset 0x"
                    + Integer.toHexString(at * InstructionWord.BYTES);
        }
        step(state, facts);
    }
}

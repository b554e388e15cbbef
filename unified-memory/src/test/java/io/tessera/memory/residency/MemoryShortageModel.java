package io.tessera.memory.residency;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Clients that take turns on a device with less memory than is believed, event by event, in every order, with the real planner and the real {@link
 * DeviceRoom}. After each event the manager does all that it can; {@link BudgetRuleModel} has the orders of single words. Memory in chunks. The
 * passing of time is an event: a turn ends, the driver reports what is free, a wait ends.
 *
 * <p>Every client asks for a turn as long as it lives and is not short of memory. Not thread-safe.
 */
final class MemoryShortageModel {
    /**
     * Initial state, in chunks.
     *
     * @param needs    needs of the clients
     * @param mostNeed maximum to which programs allocate more
     * @param believed memory that the device should have
     * @param real     memory that it has
     * @param hidden   memory that the driver reports as free beyond that
     * @param host     host memory, of all tiers
     * @param taken    maximum of the device's memory that a process outside the plan takes and gives back
     * @param deaths   whether clients may die, in any state
     */
    record Situation(List<Integer> needs, int mostNeed, int believed, int real, int hidden, int host, int taken, boolean deaths) {
    }

    /** The planner's input: its answers are a function of that, and many states ask the same. */
    private record Question(int chunks, List<ClientMemoryState> words) {
    }

    /** A rule that is left out; each omission has to be detected. */
    enum Fault { NONE, REFUSALS_NOT_TOLD, NOBODY_FALLS_SHORT }

    /** Well above the steps in which free memory is followed. */
    static final long CHUNK = 64L << 20;
    private static final long SECOND = 1_000_000_000L;

    private static final int PRESENT = 0;
    private static final int AWAY = 1;
    private static final int NEED = 2;
    private static final int TARGET = 3;
    private static final int GATE = 4;
    private static final int LIFE = 5;
    private static final int WANTS = 6;
    private static final int SHORT = 7;
    private static final int FIELDS = 8;

    private static final int CLOSED = 0;
    private static final int TOLD = 1;
    private static final int OPEN = 2;
    private static final int CLOSING = 3;

    private static final int ALIVE = 0;
    private static final int DEAD = 1;
    private static final int FORGOTTEN = 2;

    private final ResidencyPlanner planner = new ResidencyPlanner(new PlannerSettings(1L << 40, CHUNK));
    private final Situation situation;
    private final Fault fault;
    private final int clients;
    private final int holder;
    private final int next;
    private final int room;
    private final int taken;
    private final int sampled;
    private final int unusable;
    private final StateGraph graph = new StateGraph();
    private final Map<Question, Map<Long, Long>> planned = new HashMap<>();

    MemoryShortageModel(Situation situation, Fault fault) {
        this.situation = situation;
        this.fault = fault;
        this.clients = situation.needs().size();
        int at = clients * FIELDS;
        holder = at++;
        next = at++;
        room = at++;
        taken = at++;
        sampled = at++;
        unusable = at;
    }

    int size() {
        return graph.size();
    }

    long events() {
        return graph.events();
    }

    private int get(byte[] state, int client, int field) {
        return state[client * FIELDS + field];
    }

    private void set(byte[] state, int client, int field, int value) {
        state[client * FIELDS + field] = (byte) value;
    }

    private boolean lives(byte[] state, int client) {
        return get(state, client, LIFE) == ALIVE;
    }

    /** Explores all states, up to a limit; throws if an invariant fails in one of them. */
    void explore(int most) {
        byte[] start = new byte[unusable + 1];
        for (int client = 0; client < clients; client++) {
            set(start, client, NEED, situation.needs().get(client));
        }
        start[holder] = (byte) clients;
        start[room] = Byte.MAX_VALUE;
        graph.explore(react(start), this::check, state -> reacted(helpful(state)), state -> reacted(harmful(state)), most);
    }

    private List<byte[]> reacted(List<byte[]> states) {
        return states.stream().map(this::react).toList();
    }

    private int sum(byte[] state, int field) {
        return IntStream.range(0, clients).filter(client -> lives(state, client)).map(client -> get(state, client, field)).sum();
    }

    private int has(byte[] state) {
        return situation.real() - state[taken];
    }

    private void check(byte[] state) {
        int promised = 0;
        int open = 0;
        for (int client = 0; client < clients; client++) {
            promised += lives(state, client) ? Math.max(get(state, client, PRESENT), get(state, client, TARGET)) : 0;
            if (lives(state, client) && get(state, client, GATE) == OPEN) {
                open++;
                require(get(state, client, PRESENT) == get(state, client, NEED) && get(state, client, AWAY) == 0, "a gate is open and memory is away",
                        state);
            }
        }
        require(promised <= situation.believed(), "more is promised than there should be", state);
        require(open <= 1, "two turns at once", state);
        require(sum(state, AWAY) <= situation.host(), "more is backed than the host gives", state);
        require(sum(state, PRESENT) <= has(state), "more is held than the device has", state);
    }

    private void require(boolean holds, String otherwise, byte[] state) {
        if (!holds) {
            throw new AssertionError(otherwise + ": " + describe(state));
        }
    }

    /** Returns a state from which no helpful events lead to this client's turn, or to its end; null: there is none. */
    String standstill() {
        for (int client = 0; client < clients; client++) {
            int one = client;
            byte[] stands = graph.withoutWayTo(state -> isServed(state, one));
            if (stands != null) {
                return "client " + client + " stands still for ever: " + describe(stands);
            }
        }
        return null;
    }

    private boolean isServed(byte[] state, int client) {
        return !lives(state, client) || get(state, client, GATE) == OPEN || get(state, client, SHORT) != 0;
    }

    // Helpful events: clients that do what they can, and time

    private List<byte[]> helpful(byte[] state) {
        List<byte[]> to = new ArrayList<>();
        for (int client = 0; client < clients; client++) {
            if (get(state, client, LIFE) == DEAD) {
                to.add(forgotten(state, client));
            } else if (lives(state, client)) {
                move(state, client, to);
                gate(state, client, to);
            }
        }
        if (state[sampled] == 0 || roomAfterSample(state) != believed(state)) {
            to.add(sampled(state));
        }
        return to;
    }

    private byte[] forgotten(byte[] state, int client) {
        byte[] after = state.clone();
        for (int field = 0; field < FIELDS; field++) {
            set(after, client, field, 0);
        }
        set(after, client, LIFE, FORGOTTEN);
        if (after[holder] == client) {
            after[holder] = (byte) clients;
        }
        return after;
    }

    private void move(byte[] state, int client, List<byte[]> to) {
        int present = get(state, client, PRESENT);
        boolean lacks = present < get(state, client, NEED) || get(state, client, WANTS) != 0;
        if (lacks && present < get(state, client, TARGET)) {
            to.add(sum(state, PRESENT) < has(state) ? in(state, client) : refused(state));
        }
        if (get(state, client, GATE) == CLOSED && present > get(state, client, TARGET) && sum(state, AWAY) < situation.host()) {
            byte[] after = moved(state);
            set(after, client, PRESENT, present - 1);
            set(after, client, AWAY, get(state, client, AWAY) + 1);
            to.add(after);
        }
    }

    private byte[] in(byte[] state, int client) {
        byte[] after = moved(state);
        set(after, client, PRESENT, get(state, client, PRESENT) + 1);
        if (get(state, client, WANTS) != 0) {
            set(after, client, WANTS, 0);
            set(after, client, NEED, get(state, client, NEED) + 1);
        } else {
            set(after, client, AWAY, Math.max(0, get(state, client, AWAY) - 1));
        }
        return after;
    }

    /** A client that was short of memory that others could not give up may ask again. */
    private byte[] moved(byte[] state) {
        byte[] after = state.clone();
        for (int client = 0; client < clients; client++) {
            if (get(state, client, NEED) <= believed(state)) {
                set(after, client, SHORT, 0);
            }
        }
        return after;
    }

    private byte[] refused(byte[] state) {
        byte[] after = state.clone();
        if (fault == Fault.REFUSALS_NOT_TOLD) {
            return after;
        }
        DeviceRoom known = known(state);
        known.refused(sum(state, PRESENT) * CHUNK, situation.hidden() * CHUNK, SECOND);
        after[room] = (byte) (known.roomBytes(Byte.MAX_VALUE * CHUNK) / CHUNK);
        after[sampled] = 0;
        after[unusable] = (byte) situation.hidden();
        return after;
    }

    private DeviceRoom known(byte[] state) {
        DeviceRoom known = new DeviceRoom(CHUNK);
        if (state[room] < Byte.MAX_VALUE) {
            known.refused(state[room] * CHUNK, state[unusable] * CHUNK, SECOND);
        }
        return known;
    }

    private int believed(byte[] state) {
        return (int) (known(state).roomBytes(situation.believed() * CHUNK) / CHUNK);
    }

    private int roomAfterSample(byte[] state) {
        return Math.min(situation.believed(), sampled(state)[room]);
    }

    private byte[] sampled(byte[] state) {
        DeviceRoom known = known(state);
        int free = has(state) - sum(state, PRESENT) + situation.hidden();
        known.sampled(sum(state, PRESENT) * CHUNK, free * CHUNK, SECOND);
        byte[] after = state.clone();
        after[room] = (byte) (known.roomBytes(Byte.MAX_VALUE * CHUNK) / CHUNK);
        after[sampled] = 1;
        return after[room] == state[room] ? after : clearShort(after);
    }

    private byte[] clearShort(byte[] after) {
        for (int client = 0; client < clients; client++) {
            if (get(after, client, NEED) <= believed(after)) {
                set(after, client, SHORT, 0);
            }
        }
        return after;
    }

    private void gate(byte[] state, int client, List<byte[]> to) {
        byte[] after = state.clone();
        switch (get(state, client, GATE)) {
            case CLOSING -> {
                set(after, client, GATE, CLOSED);
                to.add(after);
            }
            case TOLD -> {
                if (get(state, client, PRESENT) == get(state, client, NEED)) {
                    set(after, client, GATE, OPEN);
                    to.add(after);
                } else {
                    giveUp(state, client, to);
                }
            }
            case OPEN -> {
                turnEnds(after, client);
                to.add(after);
                if (get(state, client, WANTS) != 0) {
                    byte[] later = state.clone();
                    set(later, client, WANTS, 0); // the allocation failed for lack of memory
                    to.add(later);
                }
            }
            default -> {}
        }
    }

    /** Returns whether a chunk can settle somewhere, or a refusal show something new. */
    private boolean anyMoves(byte[] state) {
        for (int client = 0; client < clients; client++) {
            List<byte[]> moves = new ArrayList<>();
            if (lives(state, client)) {
                move(state, client, moves);
            }
            for (byte[] after : moves) {
                if (get(after, client, PRESENT) != get(state, client, PRESENT) || after[room] != state[room]) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Ends a failed turn; if the room is certain, or no client can move memory, its client is short. */
    private void giveUp(byte[] state, int client, List<byte[]> to) {
        boolean impossible = get(state, client, NEED) > believed(state) && state[sampled] != 0;
        boolean dead = IntStream.range(0, clients).anyMatch(each -> get(state, each, LIFE) == DEAD);
        boolean stands = !anyMoves(state) && !dead && state[sampled] != 0 && roomAfterSample(state) == believed(state);
        if (!impossible && !stands) {
            return;
        }
        byte[] after = state.clone();
        turnEnds(after, client);
        if (fault != Fault.NOBODY_FALLS_SHORT) {
            boolean fair = get(state, client, NEED) > has(state) || sum(state, NEED) > situation.host() + has(state)
                    || sum(state, AWAY) >= situation.host();
            require(fair, "client " + client + " is refused what it could have", state);
            set(after, client, SHORT, 1);
        }
        to.add(after);
    }

    /** An allocation that waits reserves addresses now, if they can ever have memory. */
    private void turnEnds(byte[] after, int client) {
        if (get(after, client, WANTS) != 0) {
            set(after, client, WANTS, 0);
            boolean possible = get(after, client, NEED) + 1 <= believed(after);
            set(after, client, NEED, get(after, client, NEED) + (possible ? 1 : 0));
        }
        set(after, client, GATE, CLOSING);
        after[holder] = (byte) clients;
    }

    // Harmful events: programs that change their needs, deaths, other processes

    private List<byte[]> harmful(byte[] state) {
        List<byte[]> to = new ArrayList<>();
        for (int client = 0; client < clients; client++) {
            if (lives(state, client)) {
                change(state, client, to);
            }
        }
        if (state[taken] < situation.taken() && sum(state, PRESENT) < has(state)) {
            byte[] after = state.clone();
            after[taken]++;
            after[sampled] = 0;
            to.add(after);
        }
        if (state[taken] > 0) {
            byte[] after = state.clone();
            after[taken]--;
            after[sampled] = 0;
            to.add(after);
        }
        return to;
    }

    private void change(byte[] state, int client, List<byte[]> to) {
        int need = get(state, client, NEED);
        if (get(state, client, GATE) == OPEN && get(state, client, WANTS) == 0 && need < situation.mostNeed() && need < believed(state)) {
            byte[] after = state.clone();
            set(after, client, WANTS, 1);
            to.add(after);
        }
        if (need > 0 && get(state, client, WANTS) == 0 && situation.mostNeed() > 0) {
            byte[] after = moved(state);
            set(after, client, NEED, need - 1);
            int away = get(state, client, AWAY);
            boolean fresh = get(state, client, PRESENT) + away < need;
            if (!fresh) {
                set(after, client, away > 0 ? AWAY : PRESENT, away > 0 ? away - 1 : get(state, client, PRESENT) - 1);
            }
            to.add(clearShort(after));
        }
        if (situation.deaths()) {
            byte[] after = state.clone();
            set(after, client, LIFE, DEAD);
            to.add(after);
        }
    }

    // The manager

    /** Grants the next turn if it is free, plans, and writes targets, until there is nothing new. */
    private byte[] react(byte[] state) {
        byte[] after = state.clone();
        grant(after);
        for (int i = 0; i < 8; i++) {
            if (!plan(after)) {
                return after;
            }
        }
        throw new AssertionError("planning does not end: " + describe(after));
    }

    private void grant(byte[] state) {
        for (int client = 0; client < clients; client++) {
            boolean there = get(state, client, LIFE) != FORGOTTEN;
            if (state[holder] != clients || there && get(state, client, GATE) != CLOSED) {
                return;
            }
        }
        for (int i = 0; i < clients; i++) {
            int client = (state[next] + i) % clients;
            if (lives(state, client) && get(state, client, SHORT) == 0) {
                state[holder] = (byte) client;
                state[next] = (byte) ((client + 1) % clients);
                set(state, client, GATE, TOLD);
                return;
            }
        }
    }

    private boolean plan(byte[] state) {
        List<ClientMemoryState> words = new ArrayList<>();
        for (int client = 0; client < clients; client++) {
            if (get(state, client, LIFE) != FORGOTTEN) {
                words.add(word(state, client));
            }
        }
        Map<Long, Long> targets = planned.computeIfAbsent(new Question(believed(state), words),
                question -> planner.plan(Math.max(1, question.chunks() * CHUNK), question.words(), 0).targets());
        boolean changed = false;
        for (ClientMemoryState word : words) {
            int target = (int) (targets.get(word.clientId()) / CHUNK);
            changed |= target != get(state, (int) word.clientId(), TARGET);
            set(state, (int) word.clientId(), TARGET, target);
        }
        return changed;
    }

    private ClientMemoryState word(byte[] state, int client) {
        int gate = get(state, client, GATE);
        boolean running = gate == TOLD || gate == OPEN;
        long present = get(state, client, PRESENT) * CHUNK;
        long nextNs = get(state, client, SHORT) != 0 ? ClientMemoryState.UNKNOWN : 1 + Math.floorMod(client - state[next], clients);
        return new ClientMemoryState(client, "t", present, get(state, client, TARGET) * CHUNK, get(state, client, NEED) * CHUNK, 0, 0,
                get(state, client, WANTS) != 0 ? present + CHUNK : 0, 0, gate == CLOSED, false, running ? 0 : nextNs, 0, running);
    }

    private String describe(byte[] state) {
        StringBuilder text = new StringBuilder(situation + ": holder " + state[holder] + ", room " + state[room] + ", taken "
                + state[taken] + ", sampled " + state[sampled]);
        for (int client = 0; client < clients; client++) {
            text.append("; present, away, need, target, gate, life, wants, short ")
                    .append(Arrays.toString(Arrays.copyOfRange(state, client * FIELDS, (client + 1) * FIELDS)));
        }
        return text.toString();
    }
}

package io.tessera.memory.residency;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The words of one manager and a few clients, one access at a time, in every order: it determines which clients may use what in the end. Accesses are
 * sequentially consistent, as the protocol requires. Memory in units; every client needs {@code needed}.
 *
 * <p>A client raises {@code held}, reads its target again, and only then uses the memory or takes {@code held} back.
 * The manager reads {@code held} of all, plans, writes the targets in any order, and starts again; before that it may change whose turn it
 * is. A client may die at any step; the manager notices later.
 */
final class BudgetRuleModel {
    /** Departures from the protocol, each of which has to be detected. */
    enum Fault {
        NONE, TARGET_NOT_READ_AGAIN, RAISES_WITH_THE_LOWERING, HELD_NOT_READ_AGAIN
    }

    private static final int HELD = 0;
    private static final int USED = 1;
    private static final int TARGET = 2;
    private static final int STEP = 3;
    private static final int SEEN = 4;
    private static final int PENDING = 5;
    private static final int LIFE = 6;
    private static final int FIELDS = 7;

    // State of a client
    private static final int STEADY = 0;
    private static final int RAISING = 1;
    private static final int RAISED = 2;
    private static final int DROPPED = 3;
    private static final int TAKING_BACK = 4;

    private static final int ALIVE = 0;
    private static final int DEAD = 1;
    private static final int FORGOTTEN = 2;
    private static final byte NOTHING = -1;

    private final ResidencyPlanner planner = new ResidencyPlanner(new PlannerSettings(1L << 40, 1));
    private final int clients;
    private final int needed;
    private final int capacity;
    private final boolean deaths;
    private final Fault fault;
    private final Map<ByteBuffer, Integer> numbers = new HashMap<>();
    private final List<byte[]> states = new ArrayList<>();
    private final List<List<Integer>> before = new ArrayList<>();

    BudgetRuleModel(int clients, int needed, int capacity, boolean deaths, Fault fault) {
        this.clients = clients;
        this.needed = needed;
        this.capacity = capacity;
        this.deaths = deaths;
        this.fault = fault;
    }

    /** Returns the index of the manager's place in its cycle: below {@code clients} it reads, at {@code clients} it writes. */
    private int place() {
        return clients * FIELDS;
    }

    private int turn() {
        return clients * FIELDS + 1;
    }

    private static byte get(byte[] state, int client, int field) {
        return state[client * FIELDS + field];
    }

    private static byte[] with(byte[] state, int client, int field, int value) {
        byte[] copy = state.clone();
        copy[client * FIELDS + field] = (byte) value;
        return copy;
    }

    int size() {
        return states.size();
    }

    /** Explores all states; returns one in which more is in use than there is, or null. */
    byte[] explore() {
        byte[] start = new byte[clients * FIELDS + 2];
        for (int client = 0; client < clients; client++) {
            start[client * FIELDS + PENDING] = NOTHING;
        }
        ArrayDeque<Integer> unvisited = new ArrayDeque<>();
        unvisited.add(number(start));
        while (!unvisited.isEmpty()) {
            int from = unvisited.poll();
            byte[] state = states.get(from);
            if (used(state) > capacity) {
                return state;
            }
            for (byte[] next : successors(state)) {
                int known = states.size();
                int to = number(next);
                before.get(to).add(from);
                if (to == known) {
                    unvisited.add(to);
                }
            }
        }
        return null;
    }

    private int number(byte[] state) {
        return numbers.computeIfAbsent(ByteBuffer.wrap(state), key -> {
            states.add(state);
            before.add(new ArrayList<>());
            return states.size() - 1;
        });
    }

    private int used(byte[] state) {
        int sum = 0;
        for (int client = 0; client < clients; client++) {
            sum += get(state, client, USED);
        }
        return sum;
    }

    /** Returns how many states cannot lead to one in which the client that has the turn has all it needs, or is dead. */
    long withoutAWayOn() {
        boolean[] leads = new boolean[states.size()];
        ArrayDeque<Integer> queue = new ArrayDeque<>();
        for (int i = 0; i < leads.length; i++) {
            if (turnIsServed(states.get(i))) {
                leads[i] = true;
                queue.add(i);
            }
        }
        while (!queue.isEmpty()) {
            for (int from : before.get(queue.poll())) {
                if (!leads[from]) {
                    leads[from] = true;
                    queue.add(from);
                }
            }
        }
        long without = 0;
        for (boolean lead : leads) {
            without += lead ? 0 : 1;
        }
        return without;
    }

    private boolean turnIsServed(byte[] state) {
        int runner = state[turn()];
        return get(state, runner, USED) == needed || get(state, runner, LIFE) != ALIVE;
    }

    private List<byte[]> successors(byte[] state) {
        List<byte[]> next = new ArrayList<>();
        for (int client = 0; client < clients; client++) {
            if (get(state, client, LIFE) == ALIVE) {
                clientSteps(state, client, next);
            }
        }
        managerSteps(state, next);
        return next;
    }

    private void clientSteps(byte[] state, int client, List<byte[]> next) {
        int held = get(state, client, HELD);
        int used = get(state, client, USED);
        int target = get(state, client, TARGET);
        switch (get(state, client, STEP)) {
            case STEADY -> {
                if (held < target && held < needed) {
                    next.add(with(state, client, STEP, RAISING));
                }
                if (held > target && state[turn()] != client) {
                    next.add(with(with(state, client, USED, used - 1), client, STEP, DROPPED));
                }
            }
            case RAISING -> next.add(with(with(state, client, HELD, held + 1), client, STEP, RAISED));
            case RAISED -> next.add(held <= target || fault == Fault.TARGET_NOT_READ_AGAIN
                    ? with(with(state, client, USED, held), client, STEP, STEADY)
                    : with(state, client, STEP, TAKING_BACK));
            default -> next.add(with(with(state, client, HELD, held - 1), client, STEP, STEADY));
        }
        if (deaths && client == 0) {
            next.add(with(with(state, client, LIFE, DEAD), client, USED, 0));
        }
    }

    private void managerSteps(byte[] state, List<byte[]> next) {
        int place = state[place()];
        if (place < clients) {
            byte[] read = with(state, place, SEEN, get(state, place, HELD));
            read[place()]++;
            next.add(place + 1 == clients ? planned(read) : read);
            if (place == 0) {
                noticed(state, next);
            }
            return;
        }
        boolean written = true;
        for (int client = 0; client < clients; client++) {
            byte pending = get(state, client, PENDING);
            if (pending != NOTHING) {
                next.add(with(with(state, client, TARGET, pending), client, PENDING, NOTHING));
                written = false;
            }
        }
        if (written) {
            byte[] anew = state.clone();
            anew[place()] = 0;
            next.add(anew);
            if (fault == Fault.HELD_NOT_READ_AGAIN) {
                next.add(planned(state));
            }
        }
    }

    /** Deaths noticed, and the next turn, even if this one was not served. */
    private void noticed(byte[] state, List<byte[]> next) {
        for (int client = 0; client < clients; client++) {
            if (get(state, client, LIFE) == DEAD) {
                next.add(with(state, client, LIFE, FORGOTTEN));
            }
        }
        byte[] turned = state.clone();
        turned[turn()] = (byte) ((state[turn()] + 1) % clients);
        next.add(turned);
    }

    private byte[] planned(byte[] state) {
        List<ClientMemoryState> words = new ArrayList<>();
        for (int client = 0; client < clients; client++) {
            if (get(state, client, LIFE) != FORGOTTEN) {
                boolean running = client == state[turn()];
                words.add(new ClientMemoryState(client, "t", get(state, client, SEEN), get(state, client, TARGET), needed, 0,
                        0, 0, 0, !running, false, running ? 0 : 1 + Math.floorMod(client - state[turn()], clients), 0,
                        running));
            }
        }
        ResidencyPlan plan = planner.plan(capacity, words, 0);
        Map<Long, Long> targets = fault == Fault.RAISES_WITH_THE_LOWERING ? plan.goals() : plan.targets();
        byte[] copy = state.clone();
        for (ClientMemoryState word : words) {
            long target = targets.get(word.clientId());
            if (target != word.targetBytes()) {
                copy[(int) word.clientId() * FIELDS + PENDING] = (byte) target;
            }
        }
        return copy;
    }

    static String describe(byte[] state) {
        return Arrays.toString(state);
    }
}

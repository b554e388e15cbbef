package io.tessera.memory.residency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;

/**
 * The planner compared with an exhaustive optimum: if turns are known ahead, it brings in the minimum, prefetching included.
 */
class FewestMovesTest {
    private static final ResidencyPlanner PLANNER = new ResidencyPlanner(new PlannerSettings(1L << 40, 1));

    /** Clients that follow orders at once, in units of memory. */
    private static final class Device {
        final int[] needs;
        final int[] guarantees;
        final int capacity;
        final int[] turns;
        final long[] held;
        final long[] targets;
        long broughtIn;

        Device(int[] needs, int[] guarantees, int capacity, int[] turns, int[] resident) {
            this.needs = needs;
            this.guarantees = guarantees;
            this.capacity = capacity;
            this.turns = turns;
            this.held = Arrays.stream(resident).asLongStream().toArray();
            this.targets = held.clone();
        }

        long play(long seed) {
            for (int turn = 0; turn < turns.length; turn++) {
                boolean moved = true;
                for (int calls = 0; moved; calls++) {
                    int calledSoFar = calls;
                    assertTrue(calls < 20, () -> "not settled after " + calledSoFar + " calls, seed " + seed);
                    moved = step(turn);
                }
                assertEquals(needs[turns[turn]], held[turns[turn]], "resident in its turn, seed " + seed);
            }
            return broughtIn;
        }

        private boolean step(int turn) {
            List<ClientMemoryState> clients = new ArrayList<>();
            for (int i = 0; i < needs.length; i++) {
                boolean running = i == turns[turn];
                clients.add(new ClientMemoryState(i, "t", held[i], targets[i], needs[i], 0, 0, 0, guarantees[i], !running,
                        false, running ? turn : nextTurn(i, turn), Long.MIN_VALUE, running));
            }
            ResidencyPlan plan = PLANNER.plan(capacity, clients, turn);
            boolean changed = false;
            for (int i = 0; i < needs.length; i++) {
                long target = plan.targets().get((long) i);
                boolean active = i == turns[turn] || nextTurn(i, turn) != ClientMemoryState.UNKNOWN;
                long holds = active ? Math.min(target, needs[i]) : Math.min(target, held[i]);
                changed |= target != targets[i] || holds != held[i];
                broughtIn += Math.max(0, holds - held[i]);
                targets[i] = target;
                held[i] = holds;
            }
            assertTrue(Arrays.stream(held).sum() <= capacity);
            return changed;
        }

        private long nextTurn(int client, int turn) {
            for (int next = turn + 1; next < turns.length; next++) {
                if (turns[next] == client) {
                    return next;
                }
            }
            return ClientMemoryState.UNKNOWN;
        }
    }

    @Property(tries = 400, shrinking = ShrinkingMode.OFF)
    void bringsInAsLittleAsAnybodyCould(@ForAll long seed) {
        Random random = new Random(seed);
        int count = 2 + random.nextInt(3);
        int[] needs = random.ints(count, 0, 5).toArray();
        int[] guarantees = new int[count];
        int largest = Arrays.stream(needs).max().orElseThrow();
        int capacity = Math.max(1, largest) + random.nextInt(4);
        if (random.nextBoolean()) {
            int guaranteed = random.nextInt(count);
            guarantees[guaranteed] = Math.min(needs[guaranteed], capacity - largest);
        }
        int[] turns = random.ints(1 + random.nextInt(8), 0, count).toArray();
        int[] resident = new int[count];
        int free = capacity;
        for (int i = 0; i < count; i++) {
            resident[i] = random.nextInt(Math.min(free, needs[i]) + 1);
            free -= resident[i];
        }
        long planned = new Device(needs, guarantees, capacity, turns, resident).play(seed);
        long fewest = new FewestMoves(needs, guarantees, capacity, turns).from(resident);
        assertEquals(fewest, planned, () -> "needs " + Arrays.toString(needs) + " of " + capacity + ", turns "
                + Arrays.toString(turns) + ", resident " + Arrays.toString(resident) + ", seed " + seed);
    }

    @Example
    void ofThreeInTurnWithRoomForTwoEveryOtherStays() {
        int[] needs = {1, 1, 1};
        int[] turns = {0, 1, 2, 0, 1, 2, 0, 1, 2};
        // Evicting the client that is absent longest brings in 9; Belady's choice 6: the first two, then every second one.
        assertEquals(6, new Device(needs, new int[3], 2, turns, new int[3]).play(0));
    }
}

package io.tessera.memory.residency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;

/** Properties of every plan, for all values of the words. Random states come from a seed that each failure names. */
class ResidencyPlannerPropertyTest {
    private static final ResidencyPlanner PLANNER = new ResidencyPlanner(new PlannerSettings(64, 4));

    /** Returns a possible state: no client holds more than capacity allows, and guarantees were admitted. */
    static List<ClientMemoryState> clients(Random random, long capacity) {
        List<ClientMemoryState> clients = new ArrayList<>();
        long room = capacity;
        long guaranteeRoom = capacity;
        int count = 1 + random.nextInt(8);
        for (int id = 1; id <= count; id++) {
            long fixed = random.nextInt(6) == 0 ? random.nextLong(room / 4 + 1) : 0;
            guaranteeRoom -= fixed;
            room -= fixed;
            long held = random.nextLong(room / 2 + 1);
            long target = random.nextInt(3) == 0 ? random.nextLong(room + 1) : held;
            room -= Math.max(held, target);
            long guarantee = random.nextInt(4) == 0 ? random.nextLong(Math.max(0, guaranteeRoom) / 3 + 1) : 0;
            guaranteeRoom -= guarantee;
            boolean running = random.nextInt(3) == 0;
            long needed = random.nextInt(3) == 0 ? held : random.nextLong(capacity + capacity / 8);
            long wanted = running && random.nextInt(3) == 0 ? random.nextLong(capacity + capacity / 8) : 0;
            clients.add(new ClientMemoryState(id, "t" + id % 3, held, target, needed, random.nextLong(held + 1), fixed, wanted,
                    fixed + guarantee, !running && random.nextBoolean(), random.nextInt(6) == 0,
                    random.nextInt(3) == 0 ? ClientMemoryState.UNKNOWN : random.nextLong(1000), random.nextLong(1000),
                    running));
        }
        return clients;
    }

    private static long occupied(List<ClientMemoryState> clients) {
        return clients.stream().mapToLong(client -> client.occupiedBytes() + client.fixedBytes()).sum();
    }

    @Property(tries = 3000, shrinking = ShrinkingMode.OFF)
    void noPlanRaisesWhatMayBeHeldAboveTheCapacityInWhateverOrderItIsWritten(@ForAll long seed) {
        Random random = new Random(seed);
        long capacity = 64 + random.nextInt(1000);
        List<ClientMemoryState> clients = clients(random, capacity);
        // This includes states that should not occur, such as after a smaller capacity was set.
        long stated = random.nextInt(4) == 0 ? 1 + capacity / 2 : capacity;
        ResidencyPlan plan = PLANNER.plan(stated, clients, 0);
        long before = occupied(clients);
        long worst = clients.stream().mapToLong(client -> client.fixedBytes()
                + Math.max(client.occupiedBytes(), plan.targets().get(client.clientId()))).sum();
        assertTrue(worst <= Math.max(before, stated), () -> worst + " of " + stated + ", seed " + seed);
        for (ClientMemoryState client : clients) {
            long target = plan.targets().get(client.clientId());
            assertTrue(before <= stated || target <= client.targetBytes(), () -> client + " may have " + target
                    + " although " + before + " of " + stated + " may be held, seed " + seed);
        }
    }

    @Property(tries = 3000, shrinking = ShrinkingMode.OFF)
    void guaranteesAreKeptExceptByWhoIsParked(@ForAll long seed) {
        Random random = new Random(seed);
        long capacity = 64 + random.nextInt(1000);
        List<ClientMemoryState> clients = clients(random, capacity);
        ResidencyPlan plan = PLANNER.plan(capacity, clients, 0);
        for (ClientMemoryState client : clients) {
            long kept = Math.min(client.movableGuaranteeBytes(), client.contentBytes());
            long goal = plan.goals().get(client.clientId());
            if (client.running() || !client.parked()) {
                assertTrue(goal >= kept && plan.targets().get(client.clientId()) >= Math.min(kept, client.targetBytes()),
                        () -> client + " is to hold " + goal + ", seed " + seed);
            } else {
                assertEquals(0, goal, () -> client + ", seed " + seed);
            }
        }
    }

    @Property(tries = 3000, shrinking = ShrinkingMode.OFF)
    void theFirstWhoRunsGetsWhatItNeedsUnlessThatIsImpossibleForEver(@ForAll long seed) {
        Random random = new Random(seed);
        long capacity = 64 + random.nextInt(1000);
        List<ClientMemoryState> clients = clients(random, capacity);
        ResidencyPlan plan = PLANNER.plan(capacity, clients, 0);
        long others = clients.stream().mapToLong(ClientMemoryState::fixedBytes).sum()
                + clients.stream().mapToLong(ClientMemoryState::movableGuaranteeBytes).sum();
        for (ClientMemoryState client : clients) {
            long possible = capacity - others + client.movableGuaranteeBytes();
            boolean refused = Math.max(client.neededBytes(), client.wantedBytes()) > possible;
            assertEquals(refused, plan.refused().containsKey(client.clientId()), () -> client + ", seed " + seed);
        }
        clients.stream().filter(ClientMemoryState::running)
                .min((a, b) -> a.nextTurnNs() != b.nextTurnNs() ? Long.compare(a.nextTurnNs(), b.nextTurnNs())
                        : a.lastTurnEndedNs() != b.lastTurnEndedNs()
                                ? Long.compare(b.lastTurnEndedNs(), a.lastTurnEndedNs())
                        : Long.compare(a.clientId(), b.clientId()))
                .filter(first -> !plan.refused().containsKey(first.clientId()))
                .ifPresent(first -> assertTrue(plan.goals().get(first.clientId()) >= Math.max(first.neededBytes(), first.wantedBytes()),
                        () -> first + " gets "
                                + plan.goals().get(first.clientId()) + ", seed " + seed));
    }

    /** Returns the state after all clients have followed their targets and stopped when told to, with no other change. */
    static List<ClientMemoryState> obeyed(List<ClientMemoryState> clients, ResidencyPlan plan) {
        List<ClientMemoryState> after = new ArrayList<>();
        for (ClientMemoryState client : clients) {
            long target = plan.targets().get(client.clientId());
            long held = client.residentBytes();
            long cached = client.cachedBytes();
            boolean quiet = client.quiet() || plan.mustStop().contains(client.clientId());
            if (held > target) {
                long dropped = Math.min(cached, held - target);
                cached -= dropped;
                held = quiet ? target : held - dropped;
            } else if (client.running() || client.awaitsTurn()) {
                held = Math.max(held, Math.min(target, client.neededBytes()));
            }
            after.add(new ClientMemoryState(client.clientId(), client.tenant(), held, target, client.neededBytes(), cached,
                    client.fixedBytes(), client.wantedBytes(), client.guaranteeBytes(), quiet, client.parked(),
                    client.nextTurnNs(), client.lastTurnEndedNs(), client.running()));
        }
        return after;
    }

    @Property(tries = 2000, shrinking = ShrinkingMode.OFF)
    void withObedientClientsPlansSettleAndNothingMovesTwice(@ForAll long seed) {
        Random random = new Random(seed);
        long capacity = 64 + random.nextInt(1000);
        List<ClientMemoryState> clients = clients(random, capacity);
        ResidencyPlan plan = PLANNER.plan(capacity, clients, 0);
        int calls = 1;
        while (calls < 12) {
            List<ClientMemoryState> next = obeyed(clients, plan);
            ResidencyPlan nextPlan = PLANNER.plan(capacity, next, 0);
            if (next.equals(clients) && nextPlan.targets().equals(plan.targets())) {
                break;
            }
            for (int i = 0; i < clients.size(); i++) {
                ClientMemoryState was = clients.get(i);
                ClientMemoryState is = next.get(i);
                boolean grew = is.contentBytes() > was.contentBytes();
                assertTrue(!grew || nextPlan.goals().get(is.clientId()) >= is.contentBytes(),
                        () -> "brought in and sent away: " + was + ", " + is + ", seed " + seed);
            }
            clients = next;
            plan = nextPlan;
            calls++;
        }
        assertTrue(calls < 12, "not settled, seed " + seed);
        assertTrue(plan.settled(), "nothing changes and yet it is not settled, seed " + seed);
    }

    @Property(tries = 2000, shrinking = ShrinkingMode.OFF)
    void nothingLeavesWhileThereIsRoomForAll(@ForAll long seed) {
        Random random = new Random(seed);
        long capacity = 64 + random.nextInt(1000);
        List<ClientMemoryState> clients = clients(random, capacity).stream()
                .filter(client -> !client.parked() || client.running()).toList();
        long all = clients.stream().mapToLong(client -> client.fixedBytes() + Math.max(client.contentBytes(),
                Math.max(client.neededBytes(), client.wantedBytes()))).sum();
        if (all > capacity) {
            return;
        }
        ResidencyPlan plan = PLANNER.plan(capacity, clients, 0);
        assertTrue(plan.fits(), () -> plan.reason() + ", seed " + seed);
        assertEquals(0, plan.mustStop().size(), () -> plan + ", seed " + seed);
        for (ClientMemoryState client : clients) {
            assertTrue(plan.goals().get(client.clientId()) >= client.contentBytes(), () -> client + ", seed " + seed);
        }
    }
}

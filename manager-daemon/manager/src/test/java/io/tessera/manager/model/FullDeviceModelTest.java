package io.tessera.manager.model;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.model.FullDeviceModel.Event;
import io.tessera.manager.model.FullDeviceModel.Situation;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Random walks of a whole manager and its clients on devices that have less memory than they report. After each walk every client that wants to run
 * is served within a bound, or is refused memory that is not available. {@code -Dtessera.model.seconds=N} walks for longer, {@code -Dtessera.seed=N}
 * begins with that walk. {@code MemoryShortageExplorationTest} of the memory models explores every order of events of small situations.
 */
@Timeout(3600)
class FullDeviceModelTest {
    private static final double SECONDS = Double.parseDouble(System.getProperty("tessera.model.seconds", "10"));
    private static final long SEED = Long.getLong("tessera.seed", System.nanoTime());
    private static final int WALK_STEPS = 150;

    /** The actors of the steps, and the time. */
    private static final String FILLS_THE_DEVICE = "WORK 2, IN 1, SAMPLE 1, WORK 0, SAMPLE 2, SAMPLE 0, LATER, SAMPLE 0, SOON, ANSWER 2, "
            + "WORK 1, ANSWER 1, SOON, SAMPLE 1, IN 2, ANSWER 0, LATER, IN 0, SOON, SAMPLE 0, SOON, IN 2, SAMPLE 1, ANSWER 0, WORK 0, "
            + "SAMPLE 2, LATER, SOON, SAMPLE 1, SOON, ANSWER 0, LATER, SAMPLE 0, LATER, IN 2, SAMPLE 0, LATER, SAMPLE 0, LATER, SAMPLE 0, "
            + "SOON, SOON, WORK 0, SOON, LATER, SAMPLE 1, SOON, SAMPLE 2, LATER, SOON, SAMPLE 0, SAMPLE 1";

    private static Event event(String text) {
        String[] words = text.split(" ");
        return words.length == 2 ? new Event(Integer.parseInt(words[1]), ModelClient.Step.valueOf(words[0]), null)
                : new Event(-1, null, FullDeviceModel.World.valueOf(words[0]));
    }

    private static void serve(FullDeviceModel model, String way) throws Exception {
        try {
            model.everybodyIsServed();
        } catch (AssertionError e) {
            throw new AssertionError(e.getMessage() + " after " + way, e);
        }
    }

    /**
     * A client that runs freely, one that waits for memory, and one for whose memory the host has no room. The waiting client was neither served nor
     * refused, because the schedule found that memory fits and took no turns.
     */
    @Test
    void memoryThatCannotLeaveCountsWhenItIsJudgedWhetherMemoryFits() throws Exception {
        try (FullDeviceModel model = new FullDeviceModel(new Situation(List.of(1, 3, 4), 9, 5, 0, 0, 0, 0, false))) {
            for (String text : FILLS_THE_DEVICE.split(", ")) {
                model.happen(event(text));
            }
            serve(model, FILLS_THE_DEVICE);
            assertTrue(model.clients.get(0).served > 0 && model.clients.get(1).refused > 0, model::state);
        }
    }

    @Test
    void walksThroughLargerSituations() throws Exception {
        long untilNs = System.nanoTime() + (long) (SECONDS * 1e9);
        long walks = 0;
        long steps = 0;
        Set<String> states = new HashSet<>();
        for (long seed = SEED; System.nanoTime() < untilNs || walks == 0; seed++, walks++) {
            steps += walk(seed, states);
        }
        System.out.printf("%d walks from seed %d: %d states, %d steps%n", walks, SEED, states.size(), steps);
    }

    private static Situation situation(Random random) {
        int believed = 4 + random.nextInt(12);
        int missing = random.nextInt(1 + believed / 2);
        int free = random.nextInt(1 + missing);
        List<Integer> needs = new ArrayList<>();
        int clients = 1 + random.nextInt(4);
        for (int i = 0; i < clients; i++) {
            needs.add(1 + random.nextInt(believed));
        }
        // Each tier may be full, or not be there at all.
        boolean smallHost = random.nextInt(3) == 0;
        int pinned = smallHost ? random.nextInt(believed) : 64;
        int pageable = smallHost ? random.nextInt(believed) : 0;
        int file = smallHost && random.nextInt(3) == 0 ? random.nextInt(believed) : 0;
        return new Situation(needs, believed, believed - missing, free, pinned, pageable, file, random.nextBoolean());
    }

    private static long walk(long seed, Set<String> states) throws Exception {
        Random random = new Random(seed);
        Situation situation = situation(random);
        boolean deaths = random.nextBoolean();
        List<Event> way = new ArrayList<>();
        try (FullDeviceModel model = new FullDeviceModel(situation)) {
            List<Event> events = model.events(deaths);
            for (int i = 0; i < WALK_STEPS; i++) {
                Event event = events.get(random.nextInt(events.size()));
                // Rare: most of a walk should be what programs do.
                boolean rare = event.world() != null && event.client() >= 0 && random.nextInt(8) != 0;
                if (!rare && model.happen(event)) {
                    way.add(event);
                    states.add(model.state());
                }
            }
            serve(model, "seed " + seed + ", " + situation + ": " + way);
            return model.steps;
        } catch (AssertionError e) {
            throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
        }
    }
}

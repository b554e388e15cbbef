package io.tessera.memory.residency;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.memory.residency.MemoryShortageModel.Fault;
import io.tessera.memory.residency.MemoryShortageModel.Situation;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every order of events on small devices that have less memory than they report: no client stands still, and no memory is overdrawn. {@code
 * -Dtessera.model.large=true} adds larger ones, which take minutes and some GiB of heap.
 */
@Timeout(3600)
class MemoryShortageExplorationTest {
    private static final int MOST_STATES = 5_000_000;
    private static final boolean LONG = Boolean.getBoolean("tessera.model.large");

    static List<Situation> situations() {
        List<Situation> small = List.of(
                new Situation(List.of(3, 3), 0, 5, 4, 0, 9, 0, true),
                new Situation(List.of(3, 3), 0, 5, 4, 1, 9, 0, true),
                new Situation(List.of(3, 4), 0, 5, 4, 0, 9, 2, true),
                new Situation(List.of(5, 2), 0, 5, 4, 0, 9, 0, true),
                new Situation(List.of(4, 4), 0, 4, 4, 0, 2, 0, true),
                new Situation(List.of(4, 4), 0, 4, 4, 0, 0, 0, true),
                new Situation(List.of(2, 2), 3, 4, 3, 0, 9, 0, true),
                new Situation(List.of(2, 1), 3, 4, 2, 1, 2, 1, true),
                new Situation(List.of(2, 2, 2), 0, 4, 3, 0, 9, 0, true),
                new Situation(List.of(3, 2, 1), 0, 4, 3, 0, 2, 1, true));
        List<Situation> large = List.of(
                new Situation(List.of(3, 3), 4, 5, 4, 1, 9, 2, true),
                new Situation(List.of(2, 2, 2), 3, 4, 3, 1, 3, 0, true),
                new Situation(List.of(4, 3, 2), 0, 6, 5, 1, 4, 2, true),
                new Situation(List.of(2, 1, 1, 1), 0, 4, 3, 0, 9, 1, true));
        return LONG ? Stream.concat(small.stream(), large.stream()).toList() : small;
    }

    @ParameterizedTest
    @MethodSource("situations")
    void everybodyIsServedOrRefusedWhatCannotBeHad(Situation situation) {
        MemoryShortageModel model = new MemoryShortageModel(situation, Fault.NONE);
        model.explore(MOST_STATES);
        System.out.printf("%s: %d states, %d events%n", situation, model.size(), model.events());
        assertNull(model.standstill());
    }

    /** Returns whether a client stands still for ever, or is refused memory that is available. */
    private static boolean isFound(Situation situation, Fault fault) {
        MemoryShortageModel model = new MemoryShortageModel(situation, fault);
        try {
            model.explore(MOST_STATES);
        } catch (AssertionError e) {
            return true;
        }
        return model.standstill() != null;
    }

    @Test
    void theModelFindsWhatStoodStillBefore() {
        assertTrue(isFound(new Situation(List.of(3, 3), 0, 5, 4, 1, 9, 0, false), Fault.REFUSALS_NOT_TOLD), "refusals that nobody is told of");
        assertTrue(isFound(new Situation(List.of(5, 2), 0, 5, 4, 0, 9, 0, false), Fault.NOBODY_FALLS_SHORT), "a need that cannot be met");
    }
}

package io.tessera.memory.residency;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.tessera.memory.residency.ShortDeviceModel.Fault;
import io.tessera.memory.residency.ShortDeviceModel.Situation;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every order of events on small devices that have less than they say: nobody stands still, and nothing is overdrawn. */
@Timeout(600)
class ShortDeviceExplorationTest {
    private static final int MOST_STATES = 2_000_000;

    static List<Situation> situations() {
        return List.of(
                new Situation(List.of(3, 3), 0, 5, 4, 0, 9, 0, true),
                new Situation(List.of(3, 3), 0, 5, 4, 1, 9, 0, true),
                new Situation(List.of(3, 4), 0, 5, 4, 0, 9, 2, true),
                new Situation(List.of(5, 2), 0, 5, 4, 0, 9, 0, false),
                new Situation(List.of(4, 4), 0, 4, 4, 0, 2, 0, true),
                new Situation(List.of(2, 2), 3, 4, 3, 0, 9, 0, true),
                new Situation(List.of(2, 1), 3, 4, 2, 1, 2, 1, false),
                new Situation(List.of(2, 2, 2), 0, 4, 3, 0, 9, 0, true),
                new Situation(List.of(3, 2, 1), 0, 4, 3, 0, 2, 1, false));
    }

    @ParameterizedTest
    @MethodSource("situations")
    void everybodyIsServedOrRefusedWhatCannotBeHad(Situation situation) {
        ShortDeviceModel model = new ShortDeviceModel(situation, Fault.NONE);
        model.explore(MOST_STATES);
        System.out.printf("%s: %d states, %d events%n", situation, model.size(), model.events());
        assertNull(model.standstill());
    }

    @Test
    void theModelFindsWhatStoodStillBefore() {
        ShortDeviceModel untold = new ShortDeviceModel(new Situation(List.of(3, 3), 0, 5, 4, 1, 9, 0, false), Fault.REFUSALS_NOT_TOLD);
        untold.explore(MOST_STATES);
        assertNotNull(untold.standstill(), "refusals that nobody is told of");
        ShortDeviceModel patient = new ShortDeviceModel(new Situation(List.of(5, 2), 0, 5, 4, 0, 9, 0, false), Fault.NOBODY_FALLS_SHORT);
        patient.explore(MOST_STATES);
        assertNotNull(patient.standstill(), "a need that cannot be met");
    }
}

package io.tessera.manager.admission;

import io.tessera.manager.placement.PlacementChoice;
import java.util.Optional;

/**
 * What the queue answers to a wish.
 *
 * @param place    0: a place is kept for the program, it may start. Else its place among those who wait, from 1
 * @param waiting  how many wait
 * @param reason   why it waits, or why it cannot even wait; empty: it does not wait
 * @param hopeless whether waiting would not help
 * @param choice   the device that it gets; empty: it has left none to the manager, or waits
 */
public record AdmissionAnswer(int place, int waiting, String reason, boolean hopeless, Optional<PlacementChoice> choice) {
    static AdmissionAnswer never(String reason) {
        return new AdmissionAnswer(0, 0, reason, true, Optional.empty());
    }

    /** Whether the program may start. */
    public boolean admitted() {
        return place == 0 && !hopeless;
    }
}

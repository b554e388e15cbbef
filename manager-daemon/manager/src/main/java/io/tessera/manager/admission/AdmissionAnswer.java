package io.tessera.manager.admission;

import io.tessera.manager.placement.PlacementChoice;
import java.util.Optional;

/**
 * The queue's answer to a request for a place.
 *
 * @param place    0: a place is kept for the program, and it may start. Otherwise its position among the waiting programs, from 1
 * @param waiting  number of waiting programs
 * @param reason   why it waits, or why it cannot even wait; empty if it does not wait
 * @param hopeless whether waiting would not help
 * @param choice   the device that it gets; empty if it did not leave the choice to the manager, or if it waits
 */
public record AdmissionAnswer(int place, int waiting, String reason, boolean hopeless, Optional<PlacementChoice> choice) {
    static AdmissionAnswer never(String reason) {
        return new AdmissionAnswer(0, 0, reason, true, Optional.empty());
    }

    /** Returns whether the program may start. */
    public boolean admitted() {
        return place == 0 && !hopeless;
    }
}

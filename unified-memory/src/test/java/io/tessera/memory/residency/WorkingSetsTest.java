package io.tessera.memory.residency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What belongs to a client's working set, and in which order it is needed. */
class WorkingSetsTest {
    private final WorkingSets sets = new WorkingSets(2);

    private void turn(long... uses) {
        for (long use : uses) {
            sets.used(1, use);
        }
        sets.turnEnded(1);
    }

    @Test
    void withoutReportsEverythingBelongsToIt() {
        sets.allocated(1, 10, 100);
        sets.allocated(1, 11, 50);
        turn();
        turn();
        turn();
        assertEquals(150, sets.bytes(1));
        assertEquals(List.of(10L, 11L), sets.inOrderOfUse(1));
        assertEquals(List.of(), sets.idle(1));
    }

    @Test
    void whatWasNotUsedForTheGivenTurnsLeaves() {
        sets.allocated(1, 10, 100);
        sets.allocated(1, 11, 50);
        turn(10, 11);
        turn(10);
        assertEquals(150, sets.bytes(1));
        turn(10);
        assertEquals(100, sets.bytes(1));
        assertEquals(List.of(11L), sets.idle(1));
        turn();
        turn();
        assertEquals(100, sets.bytes(1), "turns without a use say nothing");
        sets.used(1, 11);
        assertEquals(150, sets.bytes(1), "used again");
    }

    @Test
    void theOrderIsThatOfTheLastTurnsFirstUses() {
        for (long id = 10; id < 14; id++) {
            sets.allocated(1, id, 1);
        }
        turn(13, 10, 13, 11);
        assertEquals(List.of(13L, 10L, 11L, 12L), sets.inOrderOfUse(1));
        turn(11, 10);
        assertEquals(List.of(11L, 10L, 13L, 12L), sets.inOrderOfUse(1));
    }

    @Test
    void whatIsFreedIsForgottenAndClientsAreKeptApart() {
        sets.allocated(1, 10, 100);
        sets.allocated(2, 10, 7);
        sets.used(2, 10);
        sets.freed(1, 10);
        sets.used(1, 10);
        assertEquals(0, sets.bytes(1));
        assertEquals(7, sets.bytes(2));
        sets.left(2);
        assertEquals(0, sets.bytes(2));
        sets.allocated(1, 10, 5);
        assertThrows(IllegalArgumentException.class, () -> sets.allocated(1, 10, 5));
        assertThrows(IllegalArgumentException.class, () -> sets.allocated(1, 11, -1));
        assertThrows(IllegalArgumentException.class, () -> new WorkingSets(0));
    }
}

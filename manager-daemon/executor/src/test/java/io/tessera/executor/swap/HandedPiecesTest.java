package io.tessera.executor.swap;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HandedPiecesTest {
    private final HandedPieces handed = new HandedPieces();

    @Test
    void piecesOfTheAskedSizeAreTakenInOrder() {
        assertEquals(0, handed.take(64));
        handed.give(7, 64);
        handed.give(8, 64);
        handed.give(9, 32);
        assertEquals(160, handed.bytes());
        assertEquals(7, handed.take(64));
        assertEquals(0, handed.take(32), "the next one has another size");
        assertEquals(8, handed.take(64));
        assertEquals(0, handed.take(64));
        assertEquals(32, handed.bytes());
        assertEquals(128, handed.takenBytes());
    }

    @Test
    void whatNobodyTakesIsReleasedOnce() {
        List<Long> released = new ArrayList<>();
        handed.give(7, 64);
        handed.give(9, 32);
        handed.clear(released::add);
        handed.clear(released::add);
        assertEquals(List.of(7L, 9L), released);
        assertEquals(0, handed.bytes());
        assertEquals(0, handed.takenBytes());
    }
}

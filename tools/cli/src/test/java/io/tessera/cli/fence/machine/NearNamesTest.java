package io.tessera.cli.fence.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Names that somebody may have meant. */
class NearNamesTest {
    @Test
    void namesThatContainTheWordComeFirst() {
        assertEquals(List.of("_Z4axpyPf", "_Z4AXPYPfPf"), NearNames.of("axpy", List.of("_Z4AXPYPfPf", "axpi", "_Z4axpyPf", "_Z4axpyPf")));
        assertEquals(5, NearNames.of("k", IntStream.range(0, 9).mapToObj(i -> "k" + i).toList()).size());
    }

    @Test
    void elseThoseWithFewEditsTheNearestFirst() {
        assertEquals(List.of("scales", "scapes"), NearNames.of("scaled", List.of("scapes", "gemm", "scales", "sca")));
        assertEquals(List.of(), NearNames.of("gemm", List.of("reduce", "x")));
    }
}

package io.tessera.executor.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Launches whose blocks may wait for each other, on 100 of 132 processors. */
class PartRoomTest {
    private static final int SOME = 100;
    private static final int ALL = 132;

    @ParameterizedTest
    @CsvSource({"1, 100, true", "1, 101, false", "1, 132, false", "1, 133, true", "2, 200, true", "2, 201, false", "2, 264, false", "2, 265, true",
            "2, 9223372036854775807, true"})
    void allOfTheirBlocksRunAtOnceOrNeverDo(int held, long blocks, boolean expected) {
        assertEquals(expected, PartRoom.has(blocks, held, false, false, SOME, ALL));
    }

    @ParameterizedTest
    @CsvSource({"2, 200, true", "2, 201, false", "2, 265, false"})
    void cooperativeOnesNeedRoomForAll(int held, long blocks, boolean expected) {
        assertEquals(expected, PartRoom.has(blocks, held, false, true, SOME, ALL));
    }

    @ParameterizedTest
    @CsvSource({"-1, 2, false, false", "1, 2, true, false", "-1, 133, false, true", "1, 133, true, true"})
    void howManyClustersAPartHoldsIsNotKnown(int held, long blocks, boolean inClusters, boolean expected) {
        assertEquals(expected, PartRoom.has(blocks, held, inClusters, false, SOME, ALL));
    }

    @ParameterizedTest
    @CsvSource({"100, false, true", "101, false, false", "1000, false, false", "1, true, false"})
    void whereTheDriverSaysNothingAProcessorHoldsOneBlock(long blocks, boolean inClusters, boolean expected) {
        assertEquals(expected, PartRoom.has(blocks, 0, inClusters, false, SOME, ALL));
    }
}

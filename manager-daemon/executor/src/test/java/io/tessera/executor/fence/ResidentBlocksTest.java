package io.tessera.executor.fence;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Blocks that run at once on a device of 132 multiprocessors: as CUDA's occupancy calculator says for compute capability 9.0. */
class ResidentBlocksTest {
    @ParameterizedTest
    @CsvSource({"32, 256, 8", "33, 256, 6", "40, 256, 6", "96, 256, 2", "255, 256, 1", "64, 1024, 1", "65, 1024, 0", "255, 1, 8", "16, 33, 64"})
    void registersBoundThem(int registers, int threads, int expected) {
        assertEquals(132L * expected, new ResidentBlocks(132, 65_536).most(registers, threads));
    }

    @ParameterizedTest
    @CsvSource({"0, 65536, 32", "132, 0, 32", "132, 65536, 0"})
    void noneWhereSomethingIsNotKnown(int multiprocessors, int all, int each) {
        assertEquals(0, new ResidentBlocks(multiprocessors, all).most(each, 256));
    }
}

package io.tessera.executor.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.BitSet;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** The parts of a grid are the grid, whatever their size. */
class GridPartsTest {
    @Property(tries = 300)
    void everyBlockIsInOnePart(@ForAll @IntRange(min = 1, max = 40) int x, @ForAll @IntRange(min = 1, max = 20) int y,
            @ForAll @IntRange(min = 1, max = 10) int z, @ForAll @IntRange(min = 1, max = 900) int most) {
        GridParts parts = new GridParts();
        parts.begin(x, y, z);
        BitSet seen = new BitSet();
        while (parts.left() > 0) {
            long left = parts.left();
            long blocks = parts.next(most);
            assertTrue(blocks >= 1 && blocks <= most, blocks + " of " + most);
            assertEquals(left - blocks, parts.left());
            assertEquals(blocks, (long) parts.size(0) * parts.size(1) * parts.size(2));
            mark(parts, x, y, z, seen);
        }
        assertEquals(x * y * z, seen.cardinality());
    }

    private static void mark(GridParts parts, int x, int y, int z, BitSet seen) {
        for (int k = parts.first(2); k < parts.first(2) + parts.size(2); k++) {
            for (int j = parts.first(1); j < parts.first(1) + parts.size(1); j++) {
                for (int i = parts.first(0); i < parts.first(0) + parts.size(0); i++) {
                    assertTrue(i < x && j < y && k < z);
                    int at = (k * y + j) * x + i;
                    assertTrue(!seen.get(at), "block " + i + "," + j + "," + k + " twice");
                    seen.set(at);
                }
            }
        }
    }

    @Test
    void aGridOfAllBlocksThatADeviceTakesHasParts() {
        GridParts parts = new GridParts();
        parts.begin(Integer.MAX_VALUE, 65_535, 1);
        assertEquals(Integer.MAX_VALUE * 65_535L, parts.left());
        assertEquals(Integer.MAX_VALUE, parts.next(Integer.MAX_VALUE + 5L));
        assertEquals(1, parts.next(1));
        assertEquals(1, parts.first(1));
        assertEquals(0, parts.first(0));
        assertEquals(1, parts.next(1));
        assertEquals(1, parts.first(0));
        assertEquals(65_535, parts.grid(1));
    }
}

package io.tessera.guardian.window;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import org.junit.jupiter.api.Test;

class WindowSpaceTest {
    private static final long GIB = 1L << 30;

    private static WindowPlace placed(WindowSpace space, long bytes) {
        return assertInstanceOf(PlacementAnswer.Placed.class, space.allocate(bytes)).place();
    }

    /** Returns whether any place would fit, tried one by one. */
    private static boolean fits(List<WindowPlace> taken, long bytes) {
        for (long at = WindowSpace.STANDARD_BASE; at + bytes <= WindowSpace.STANDARD_END; at += bytes) {
            WindowPlace place = new WindowPlace(at, bytes);
            if (place.lowerGuardAddress() >= WindowSpace.STANDARD_BASE && place.endOfUpperGuard() <= WindowSpace.STANDARD_END
                    && taken.stream().allMatch(other -> other.endOfUpperGuard() <= place.lowerGuardAddress()
                            || other.lowerGuardAddress() >= place.endOfUpperGuard())) {
                return true;
            }
        }
        return false;
    }

    @Property(tries = 60, shrinking = ShrinkingMode.OFF)
    void windowsAreAlignedAndTheirGuardsAreTheirOwn(@ForAll long seed) {
        Random random = new Random(seed);
        WindowSpace space = new WindowSpace();
        List<WindowPlace> taken = new ArrayList<>();
        for (int step = 0; step < 120; step++) {
            if (!taken.isEmpty() && random.nextInt(3) == 0) {
                space.free(taken.remove(random.nextInt(taken.size())));
                continue;
            }
            long bytes = 4 * GIB << random.nextInt(10);
            switch (space.allocate(bytes)) {
                case PlacementAnswer.Placed(WindowPlace place) -> {
                    assertEquals(bytes, place.sizeBytes());
                    assertEquals(0, place.baseAddress() % bytes, "aligned to its size");
                    assertTrue(fits(taken, bytes), "the reference finds a place too");
                    for (WindowPlace other : taken) {
                        assertTrue(other.endOfUpperGuard() <= place.lowerGuardAddress()
                                || other.lowerGuardAddress() >= place.endOfUpperGuard(), place + " meets " + other);
                    }
                    taken.add(place);
                }
                case PlacementAnswer.Exhausted exhausted -> {
                    assertFalse(fits(taken, bytes), "a place was free");
                    assertEquals(bytes, exhausted.sizeBytes());
                    assertTrue(exhausted.largestFreeBytes() < bytes);
                }
            }
            assertEquals(taken.size(), space.placed());
        }
        taken.forEach(space::free);
        assertEquals(WindowLayout.MAX_SIZE_BYTES, space.largestFreeBytes(), "all of it is one again");
    }

    @Test
    void thirtyTenantsOfAWholeGpu() {
        WindowSpace space = new WindowSpace();
        int count = 0;
        while (space.allocate(256 * GIB) instanceof PlacementAnswer.Placed) {
            count++;
        }
        assertTrue(count >= 30, count + " windows of 256 GiB");
    }

    @Test
    void smallWindowsLeaveTheLargeRunsWhole() {
        WindowSpace space = new WindowSpace();
        WindowPlace low = placed(space, 4 * GIB);
        placed(space, 1024 * GIB);
        WindowPlace again = placed(space, 4 * GIB);
        assertTrue(again.baseAddress() < low.baseAddress() + 1024 * GIB, "beside the first, not in the larger half");
    }

    @Test
    void aCertainPlaceIsTakenOnce() {
        WindowSpace space = new WindowSpace();
        WindowPlace place = placed(space, 8 * GIB);
        assertFalse(space.take(place));
        space.free(place);
        assertTrue(space.take(place));
        assertFalse(space.take(new WindowPlace(place.endAddress(), 4 * GIB)), "in its guard");
        assertFalse(space.take(new WindowPlace(WindowSpace.STANDARD_BASE, 4 * GIB)), "its guard is outside");
        assertFalse(space.take(new WindowPlace(WindowSpace.STANDARD_END, 4 * GIB)));
        assertThrows(IllegalArgumentException.class,
                () -> space.take(new WindowPlace(WindowSpace.STANDARD_BASE + GIB, 4 * GIB)));
        space.free(place);
        assertThrows(IllegalArgumentException.class, () -> space.free(place), "freed before");
        assertThrows(IllegalArgumentException.class, () -> space.allocate(5 * GIB));
    }

    @Test
    void whatTheDriverDidNotLetHaveIsNotTriedAgain() {
        WindowSpace space = new WindowSpace();
        WindowPlace refused = placed(space, 64 * GIB);
        space.abandon(refused);
        assertFalse(space.take(refused));
        assertEquals(0, space.placed());
        assertThrows(IllegalArgumentException.class, () -> space.free(refused));
    }
}

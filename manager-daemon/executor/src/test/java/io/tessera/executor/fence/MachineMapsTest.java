package io.tessera.executor.fence;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.executor.window.WindowAccess;
import io.tessera.guardian.machine.HardwareTensorMap;
import io.tessera.guardian.machine.TensorMapPlaces;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Proxy;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests which tensor maps among a launch's parameters stay in the window. */
class MachineMapsTest {
    private static final long BASE = 0x2040_0000_0000L;
    private static final long SIZE = 1L << 32;
    private static final int AT = 64;
    private static final WindowAccess WINDOW = (WindowAccess) Proxy.newProxyInstance(WindowAccess.class.getClassLoader(),
            new Class<?>[] {WindowAccess.class},
            (_, method, arguments) -> switch (method.getName()) {
                case "baseAddress" -> BASE;
                case "sizeBytes" -> SIZE;
                case "contains" -> (long) arguments[0] >= BASE && (long) arguments[0] - BASE <= SIZE - (long) arguments[1];
                default -> throw new AssertionError(method.getName());
            });

    /** Bytes in a row, as a map of one dimension. */
    private static void map(MemorySegment parameters, long at, long address, long bytes) {
        parameters.set(ValueLayout.JAVA_LONG_UNALIGNED, at, address);
        parameters.set(ValueLayout.JAVA_INT_UNALIGNED, at + 32, (int) (bytes - 1));
    }

    private static MachineMaps.Reach single(MemorySegment parameters) {
        return new MachineMaps(new TensorMapPlaces(Set.of(AT), Set.of(), false)).lead(WINDOW, parameters, parameters.byteSize());
    }

    private static MemorySegment with(long address, long bytes) {
        MemorySegment parameters = MemorySegment.ofArray(new byte[4 * AT]);
        map(parameters, AT, address, bytes);
        return parameters;
    }

    @Test
    void aMapOfMemoryInTheWindowStaysThereWhoeverMadeIt() {
        assertEquals(MachineMaps.Reach.WINDOW, single(with(BASE, SIZE)));
        assertEquals(MachineMaps.Reach.WINDOW, single(with(BASE + SIZE - 16, 16)));
    }

    @Test
    void aMapThatLeadsOutOfTheWindowDoesNot() {
        assertEquals(MachineMaps.Reach.ELSEWHERE, single(with(BASE + SIZE - 16, 17)));
        assertEquals(MachineMaps.Reach.ELSEWHERE, single(with(BASE - 16, 32)));
        assertEquals(MachineMaps.Reach.ELSEWHERE, single(with(0x7f00_0000_0000L, 16)));
    }

    @Test
    void bytesThatAreNoMapDoNot() {
        MemorySegment parameters = with(BASE, 16);
        parameters.set(ValueLayout.JAVA_INT_UNALIGNED, AT + 8, -1);
        assertEquals(MachineMaps.Reach.ELSEWHERE, single(parameters));
        assertEquals(MachineMaps.Reach.ELSEWHERE, single(with(BASE, 16).asSlice(0, AT + 63)), "behind the parameters");
    }

    @Test
    void aMapOfZerosReachesNothing() {
        assertEquals(MachineMaps.Reach.WINDOW, single(MemorySegment.ofArray(new byte[4 * AT])));
    }

    /** cuBLAS leaves such maps where a product has no third matrix. */
    @Test
    void aMapWithoutAnAddressIsMadeToBeginInTheWindow() {
        MemorySegment parameters = with(0, 4096);
        assertEquals(MachineMaps.Reach.WINDOW, single(parameters));
        assertEquals(BASE, HardwareTensorMap.address(parameters, AT));
        MemorySegment large = with(0, SIZE);
        large.set(ValueLayout.JAVA_INT_UNALIGNED, AT + 8, 1 << 7); // two bytes each
        assertEquals(MachineMaps.Reach.ELSEWHERE, single(large), "more than the window has");
        assertEquals(0, HardwareTensorMap.address(large, AT));
    }

    /** The address that is put into one map is in the middle of another, which then reaches further. */
    @Test
    void mapsThatOverlapAreLookedAtAsTheyAreInTheEnd() {
        MachineMaps overlapping = new MachineMaps(new TensorMapPlaces(Set.of(AT, AT + 8), Set.of(), false));
        MemorySegment parameters = with(BASE, SIZE / 2);
        parameters.set(ValueLayout.JAVA_INT_UNALIGNED, AT + 36, 1 << 20); // rows without a distance between them
        assertEquals(MachineMaps.Reach.WINDOW, single(parameters));
        assertEquals(MachineMaps.Reach.ELSEWHERE, overlapping.lead(WINDOW, parameters, parameters.byteSize()));
    }

    @Test
    void ofSeveralMapsAllAreLookedAtUntilOneIsNone() {
        MachineMaps several = new MachineMaps(new TensorMapPlaces(Set.of(), Set.of(AT), false));
        MemorySegment parameters = with(BASE, 16);
        map(parameters, 2 * AT, BASE, 32);
        assertEquals(MachineMaps.Reach.WINDOW, several.lead(WINDOW, parameters, parameters.byteSize()));
        map(parameters, 2 * AT, BASE - 64, 32);
        assertEquals(MachineMaps.Reach.ELSEWHERE, several.lead(WINDOW, parameters, parameters.byteSize()));
        parameters.set(ValueLayout.JAVA_INT_UNALIGNED, 2 * AT + 8, -1);
        assertEquals(MachineMaps.Reach.WINDOW, several.lead(WINDOW, parameters, parameters.byteSize()), "something else follows the maps");
    }
}

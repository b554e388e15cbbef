package io.tessera.manager.placement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.protocol.DeviceUuid;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PlacementChoiceTest {
    private static final long GIB = 1L << 30;
    private static final DeviceUse FULLER = new DeviceUse(new DeviceUuid(0, 1), 80 * GIB, 20 * GIB, 1, 0, 0.75);
    private static final DeviceUse BUSIER = new DeviceUse(new DeviceUuid(0, 2), 80 * GIB, 60 * GIB, 3, 0, 0.05);
    private static final DeviceUse SMALL = new DeviceUse(new DeviceUuid(0, 3), GIB, 512L << 20, 0, 0, 0.5);

    private static String reason(DevicePlacement rule, long wishedBytes, DeviceUse... devices) {
        return PlacementChoice.of(rule, List.of(devices), wishedBytes).reason();
    }

    @Test
    void theReasonHasTheFiguresOfTheRule() {
        assertEquals("of 2 devices with 8.0 GiB free it has the least free memory: 20.0 GiB, and 1 client",
                reason(DevicePlacement.PACK, 8 * GIB, FULLER, BUSIER, SMALL));
        assertEquals("of 2 devices with 8.0 GiB free it has the fewest clients: 1, and 20.0 GiB free",
                reason(DevicePlacement.SPREAD, 8 * GIB, FULLER, BUSIER, SMALL));
        assertEquals("of 2 devices with 8.0 GiB free it used the least GPU time lately: 5%, and has 3 clients",
                reason(DevicePlacement.LEAST_LOADED, 8 * GIB, FULLER, BUSIER, SMALL));
        assertEquals("of 3 devices with an eighth of its memory free it has the fewest clients: 0, and 512 MiB free",
                reason(DevicePlacement.SPREAD, 0, FULLER, BUSIER, SMALL));
        assertEquals("it alone of 3 devices has 30.0 GiB free: 60.0 GiB, and 3 clients",
                reason(DevicePlacement.SPREAD, 30 * GIB, FULLER, BUSIER, SMALL));
        assertEquals("no device of 2 has 70.0 GiB free; it has the most: 60.0 GiB, and 3 clients",
                reason(DevicePlacement.PACK, 70 * GIB, FULLER, BUSIER));
        assertEquals("of 1 device with 1 MiB free it has the fewest clients: 0, and 512 MiB free", reason(DevicePlacement.SPREAD, 1 << 20, SMALL));
    }

    @Test
    void aProgramThatIsAboutToComeUsesAllOfTheTime() {
        DeviceUse idle = new DeviceUse(new DeviceUuid(0, 4), GIB, GIB, 0, 0, 0);
        assertEquals(idle.device(), PlacementChoice.of(DevicePlacement.LEAST_LOADED, List.of(SMALL, idle), 1).device());
        assertEquals(SMALL.device(), PlacementChoice.of(DevicePlacement.LEAST_LOADED, List.of(SMALL, idle.with(1, 0)), 1).device());
    }

    @Test
    void rulesAreNamedAsUsersWriteThem() {
        assertEquals("none, pack, spread, least-loaded", DevicePlacement.all());
        assertEquals(Optional.of(DevicePlacement.LEAST_LOADED), DevicePlacement.of("least-loaded"));
        assertTrue(DevicePlacement.of("LEAST_LOADED").isEmpty());
        assertEquals(DevicePlacement.SPREAD, DevicePlacement.NONE.asked());
        assertEquals(DevicePlacement.PACK, DevicePlacement.PACK.asked());
    }
}

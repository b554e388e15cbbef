package io.tessera.manager.placement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.placement.GpuTimes.ClientWork;
import io.tessera.protocol.DeviceUuid;
import java.util.List;
import java.util.Set;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;

class GpuTimesTest {
    private static final DeviceUuid GPU = new DeviceUuid(0, 1);
    private static final long S = 1_000_000_000L;

    private final GpuTimes times = new GpuTimes();
    private long nowNs;

    /** Measures every two seconds one client, whose counts at each second the test chooses. */
    private double after(int seconds, LongFunction<ClientWork> client) {
        for (long end = nowNs + seconds * S; nowNs <= end; nowNs += GpuTimes.LOOK_NS) {
            times.look(GPU, List.of(client.apply(nowNs / S)), nowNs);
        }
        return times.share(GPU);
    }

    @Test
    void samplesTellThePartOfTheTime() {
        assertEquals(0.25, after(120, second -> new ClientWork(7, second, second * 125, second * 500, 0)), 0.01);
    }

    @Test
    void ofAClientInTurnsItsTurnsCountAsFarAsTheyWereBusy() {
        assertEquals(0.5, after(120, second -> new ClientWork(7, second, 0, 0, second * S / 2)), 0.01);
        assertEquals(0.25, after(120, second -> new ClientWork(8, second, second * 125, second * 250, second * S / 2)), 0.01);
    }

    @Test
    void whoSubmitsWorkOfWhichNothingIsKnownUsesAllOfTheTime() {
        assertEquals(1, after(120, second -> new ClientWork(7, second, 0, 0, 0)), 0.01);
    }

    @Test
    void whatWasIsForgotten() {
        after(120, second -> new ClientWork(7, second, 0, 0, 0));
        double half = after(10, _ -> new ClientWork(7, 999, 0, 0, 0));
        assertTrue(half > 0.4 && half < 0.65, "after a half-life " + half);
        assertTrue(after(120, _ -> new ClientWork(7, 999, 0, 0, 0)) < 0.01);
        times.retain(Set.of());
        assertEquals(0, times.share(GPU));
    }

    @Test
    void newClientsBringNothingOfThePastAlong() {
        after(10, _ -> new ClientWork(7, 1, 0, 0, 0));
        assertEquals(1, after(0, _ -> new ClientWork(8, 1_000_000, 1, 2, 1_000 * S)), "nothing is known of it");
        assertEquals(0, after(2, _ -> new ClientWork(8, 1_000_000, 1, 2, 1_000 * S)));
    }

    /** Two devices with one busy program each, of which one came a second ago, are equally busy: the next two programs get one each. */
    @Test
    void equallyBusyDevicesAreEqualHoweverLongTheirClientsHaveBeenThere() {
        double old = after(120, second -> new ClientWork(7, second, 0, 0, second * S));
        DeviceUuid other = new DeviceUuid(0, 2);
        times.look(other, List.of(new ClientWork(9, 1, 0, 0, nowNs)), nowNs);
        assertEquals(old, times.share(other), 0.001, "as soon as it is there");
        times.look(other, List.of(new ClientWork(9, 2, 0, 0, nowNs + GpuTimes.LOOK_NS)), nowNs + GpuTimes.LOOK_NS);
        assertEquals(old, times.share(other), 0.001, "and when it is known");
    }

    @Test
    void whoHasGoneUsesNothing() {
        after(120, second -> new ClientWork(7, second, 0, 0, second * S));
        times.look(GPU, List.of(), nowNs);
        assertEquals(0, times.share(GPU));
    }

    @Test
    void severalClientsTogetherUseNoMoreThanAllOfTheTime() {
        for (; nowNs < 120 * S; nowNs += GpuTimes.LOOK_NS) {
            times.look(GPU, List.of(new ClientWork(1, nowNs, 0, 0, 0), new ClientWork(2, nowNs, 0, 0, 0)), nowNs);
        }
        assertEquals(1, times.share(GPU), 0.01);
    }
}

package io.tessera.manager.schedule;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.schedule.turn.ClientLoad;
import io.tessera.manager.schedule.turn.ScheduleSettings;
import io.tessera.policy.TenantTerms;
import org.junit.jupiter.api.Test;

/** Tenants that work on several devices: turns that each device hands out by itself could set them against each other. */
class SpanningTenantTest {
    @Test
    void autoTakesNoTurnsWhileATenantSpansDevices() {
        ScriptedTurnPort port = new ScriptedTurnPort();
        DeviceScheduler scheduler = new DeviceScheduler(ScheduleSettings.defaults().withCapacityBytes(1), port, 0);
        for (long id = 1; id <= 2; id++) {
            port.loads.put(id, new ClientLoad(10, 0, 0, 100, 0));
            scheduler.joined(id, "p" + id, TenantTerms.DEFAULT, 0);
        }
        assertTrue(scheduler.snapshot(0).exclusive(), scheduler.snapshot(0).reason());
        scheduler.spans(true, 1);
        assertFalse(scheduler.snapshot(1).exclusive());
        assertTrue(scheduler.snapshot(1).reason().contains("several GPUs"), scheduler.snapshot(1).reason());
        scheduler.mode(SchedulerMode.ON, 2);
        assertTrue(scheduler.snapshot(2).exclusive(), "an operator's word counts");
        scheduler.mode(SchedulerMode.AUTO, 3);
        assertFalse(scheduler.snapshot(3).exclusive());
        scheduler.spans(false, 4);
        assertTrue(scheduler.snapshot(4).exclusive(), scheduler.snapshot(4).reason());
    }
}

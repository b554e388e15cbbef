package io.tessera.manager.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.manager.schedule.turn.AckState;
import io.tessera.manager.schedule.turn.ScheduleSettings;
import io.tessera.policy.TenantTerms;
import java.util.List;

/** A scheduler that a test steps through with an injected clock, in milliseconds; steps return the orders to the port. */
abstract class SchedulerSteps {
    static final long MS = 1_000_000L;

    final ScriptedTurnPort port = new ScriptedTurnPort();
    private final SchedulerMode mode;
    DeviceScheduler scheduler;
    long nowMs = 1000;

    SchedulerSteps(ScheduleSettings settings, SchedulerMode mode) {
        this.mode = mode;
        this.scheduler = make(settings);
    }

    final DeviceScheduler make(ScheduleSettings settings) {
        return make(settings, mode);
    }

    final DeviceScheduler make(ScheduleSettings settings, SchedulerMode other) {
        DeviceScheduler made = new DeviceScheduler(settings, port, 0);
        made.mode(other, 0);
        return made;
    }

    final long now() {
        return nowMs * MS;
    }

    final List<String> after(long ms) {
        nowMs += ms;
        scheduler.doWork(now());
        return port.take();
    }

    final List<String> wants(long client) {
        scheduler.wants(client, now(), now());
        return port.take();
    }

    final List<String> acks(long client, long epoch, AckState state) {
        scheduler.acknowledged(client, epoch, state, now());
        return port.take();
    }

    /** Client 1 holds with epoch 1, clients 2 and 3 wait. */
    final void firstHoldsOthersWait() {
        for (long client = 1; client <= 3; client++) {
            scheduler.joined(client, "p" + client, TenantTerms.DEFAULT, now());
        }
        assertEquals(List.of(), port.take());
        assertEquals(List.of("1 GRANTED@1"), wants(1));
        scheduler.wants(1, 0, now());
        acks(1, 1, AckState.OPEN);
        assertEquals(List.of(), wants(2));
        assertEquals(List.of(), wants(3));
    }
}

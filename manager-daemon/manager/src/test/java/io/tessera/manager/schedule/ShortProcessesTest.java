package io.tessera.manager.schedule;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.schedule.turn.AckState;
import io.tessera.manager.schedule.turn.ScheduleSettings;
import io.tessera.policy.TenantTerms;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A tenant with short processes in sequence. */
class ShortProcessesTest extends SchedulerSteps {
    private static final TenantTerms TENTH = TenantTerms.DEFAULT.withHardCap(0.1);

    ShortProcessesTest() {
        super(ScheduleSettings.defaults(), SchedulerMode.ON);
    }

    /** Returns the epoch of the turn that a client was granted; empty: none was. */
    private static Optional<Long> granted(long client, List<String> told) {
        String start = client + " GRANTED@";
        return told.stream().filter(one -> one.startsWith(start)).map(one -> Long.parseLong(one.substring(start.length()))).findFirst();
    }

    @Test
    void shortProcessesKeepToAHardCap() {
        long beginMs = nowMs;
        long usedMs = 0;
        for (long client = 1; client <= 20; client++) {
            scheduler.joined(client, "loop", TENTH, now());
            Optional<Long> epoch = granted(client, wants(client));
            for (int ms = 0; epoch.isEmpty(); ms++) {
                assertTrue(ms < 1_000, "client " + client + " gets no turn");
                epoch = granted(client, after(1));
            }
            acks(client, epoch.get(), AckState.OPEN);
            after(45);
            usedMs += 45;
            scheduler.left(client, now());
            after(1);
        }
        double part = (double) usedMs / (nowMs - beginMs);
        assertTrue(part < 0.12 && part > 0.09, "the tenant had " + part + " of the device");
    }
}

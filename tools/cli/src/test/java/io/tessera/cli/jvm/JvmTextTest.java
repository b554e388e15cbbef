package io.tessera.cli.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.cli.text.Style;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The text about a JVM of which the agent sees nothing, and one of which it does. */
class JvmTextTest {
    private static final String PAST = "uses CUDA past what the agent sees";

    private static JvmReport report(boolean client, GpuSummary summary) {
        return new JvmReport(new JvmProcess(7, 1, "Main", true, true, client), summary, null, null, 0, null);
    }

    private static GpuSummary summary(long allocations, long launches) {
        return new GpuSummary("1", "on", false, "agent", 0, allocations, launches, 0, 0, 0, 0, 0);
    }

    private static String list(JvmReport report) {
        return String.join("\n", new JvmText(Style.PLAIN).list(List.of(report)));
    }

    private static String one(JvmReport report) {
        return String.join("\n", new JvmText(Style.PLAIN).of(report));
    }

    @Test
    void aClientOfWhichTheAgentSeesNothingIsSaidToBeOne() {
        for (GpuSummary nothing : new GpuSummary[] {null, summary(0, 0)}) {
            String list = list(report(true, nothing));
            assertTrue(list.contains("pid 7 " + PAST) && list.contains("tessera counters 7"), list);
            assertFalse(list.contains("no CUDA"), list);
        }
        assertTrue(one(report(true, summary(0, 0))).contains("pid 7 " + PAST));
    }

    @Test
    void whatIsSeenOrIsNoClientIsNotSpokenOf() {
        for (JvmReport report : List.of(report(true, summary(1, 0)), report(true, summary(0, 1)), report(false, summary(0, 0)))) {
            assertFalse(one(report).contains(PAST), one(report));
            assertFalse(list(report).contains(PAST), list(report));
        }
        assertEquals(1, list(report(false, null)).split("no CUDA seen", -1).length - 1);
    }
}

package io.tessera.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.residency.ResidencySettings;
import io.tessera.manager.schedule.SchedulerMode;
import io.tessera.manager.schedule.turn.DrainPolicy;
import io.tessera.manager.settings.OptionException;
import io.tessera.manager.settings.Quantities;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Sources, meanings and refusals of options. */
class ManagerContextTest {
    private static ManagerContext parse(Map<String, String> environment, String... arguments) throws OptionException {
        return ManagerContext.parse(List.of(arguments), environment, 1000);
    }

    @Test
    void defaultsAreThoseOfTheHelp() throws Exception {
        ManagerContext context = parse(Map.of());
        assertEquals(Path.of("/tmp/tessera-1000"), context.directory().path());
        assertEquals(Path.of("/dev/shm/tessera-1000"), context.directory().shmDirectory());
        assertEquals(ManagerOption.MODE.standard(), context.mode().name().toLowerCase());
        assertEquals(Quantities.durationNs(ManagerOption.QUANTUM.standard()), context.schedule().quantumNs());
        assertEquals(Quantities.durationNs(ManagerOption.GRACE.standard()), context.schedule().graceNs());
        assertEquals(ManagerOption.DRAIN_POLICY.standard(), context.schedule().drainPolicy().name().toLowerCase());
        assertEquals(0, context.schedule().capacityBytes());
        assertEquals(ManagerOption.MAX_CLIENTS.standard(), Integer.toString(context.maxClients()));
        assertEquals(ManagerOption.LOG_LEVEL.standard(), context.logLevel());
    }

    @Test
    void theCommandLineCountsBeforeTheEnvironment() throws Exception {
        Map<String, String> environment = Map.of("TESSERA_MODE", "on", "TESSERA_QUANTUM", "1.5s",
                "TESSERA_RUNTIME_DIR", "/env/run", "TESSERA_SHM_DIR", "/env/shm", "TESSERA_GRACE", "");
        ManagerContext context = parse(environment, "--mode", "off", "--runtime-directory=/line/run", "--capacity",
                "8GiB", "--drain-policy=end", "--max-clients", "7", "--grace", "250ms", "--log-level", "debug");
        assertEquals(SchedulerMode.OFF, context.mode());
        assertEquals(1_500_000_000L, context.schedule().quantumNs());
        assertEquals(Path.of("/line/run"), context.directory().path());
        assertEquals(Path.of("/env/shm"), context.directory().shmDirectory());
        assertEquals(8L << 30, context.schedule().capacityBytes());
        assertEquals(DrainPolicy.END, context.schedule().drainPolicy());
        assertEquals(7, context.maxClients());
        assertEquals(250_000_000L, context.schedule().graceNs());
        assertEquals("debug", context.logLevel());
    }

    @Test
    void memoryThatMoves() throws Exception {
        assertEquals(ResidencySettings.defaults(), parse(Map.of()).residency());
        ManagerContext context = parse(Map.of("TESSERA_IDLE_EVICT", "10min"), "--capacity", "8GiB", "--host-memory",
                "64GiB", "--host-pageable", "0B", "--move-share", "2.5%");
        assertEquals(new ResidencySettings(8L << 30, 64L << 30, 0, 600_000_000_000L, 0.025), context.residency());
        assertEquals(0, parse(Map.of("TESSERA_IDLE_EVICT", "10min"), "--idle-evict", "off").residency().idleEvictNs());
    }

    @Test
    void relativeDirectoriesAreThoseOfTheCaller() throws Exception {
        assertTrue(parse(Map.of(), "--runtime-directory", "a/../b").directory().path().isAbsolute());
        assertTrue(parse(Map.of(), "--runtime-directory", "a/../b").directory().path().endsWith("b"));
    }

    /** The message contains the option and its bound, in the terms of the user who set it. */
    @Test
    void whatIsOutOfBoundsIsToldWithTheBound() {
        Map.of("--grace 0ms", "--grace (TESSERA_GRACE): a grace is above 0", "--idle-evict 0s", "an idle time is off, or above 0",
                "--move-share 101%", "\"101%\": a share is above 0% and at most 100%", "--move-share 0%", "a share is above 0%",
                "--capacity 0B", "a size is above 0").forEach((options, expected) -> {
                    String message = assertThrows(OptionException.class, () -> parse(Map.of(), options.split(" "))).getMessage();
                    assertTrue(message.contains(expected), message);
                });
    }

    @Test
    void wrongValuesAreNamed() {
        for (List<String> wrong : List.of(List.of("--mode", "fast"), List.of("--mode"), List.of("--quantum", "5"),
                List.of("--quantum", "0ms"), List.of("--quantum", "2h"), List.of("--grace", "-1s"),
                List.of("--capacity", "8GB"), List.of("--capacity", "0B"), List.of("--capacity", "999999999TiB"),
                List.of("--max-clients", "0"), List.of("--max-clients", "many"), List.of("--log-level", "loud"),
                List.of("--drain-policy", "kill"), List.of("mode=on"), List.of("--Mode=on"),
                List.of("--move-share", "0%"), List.of("--move-share", "5"), List.of("--move-share", "101%"),
                List.of("--idle-evict", "never"), List.of("--host-memory", "all"))) {
            OptionException refused = assertThrows(OptionException.class,
                    () -> parse(Map.of(), wrong.toArray(String[]::new)), wrong.toString());
            assertTrue(refused.getMessage().contains(wrong.getFirst().split("=")[0]), refused.getMessage());
        }
    }
}

package io.tessera.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Services watched for long: in none of the looks is a site accused that frees what it takes, and in each the one that
 * leaks is. Run by {@code -Dtessera.jvm.leak.seconds=600}, which is the time; it needs little of a processor.
 */
@EnabledIfSystemProperty(named = "tessera.jvm.leak.seconds", matches = "[1-9][0-9]*", disabledReason = "takes minutes: -Dtessera.jvm.leak.seconds=600")
class LeakWatchTest {
    /** Between two looks: the services work for part of it, so that others have the machine too. */
    private static final long PAUSE_MS = 5_000;

    @Test
    void onlyTheSiteThatLeaksIsEverAccused() throws InterruptedException {
        long seconds = Long.getLong("tessera.jvm.leak.seconds");
        try (World world = new World().withManager()) {
            LeakFinder finder = new LeakFinder(world);
            JvmProgram scoring = finder.service(Jvm.newest(), "ScoringService", "bench", "4").awaitLine("{\"what\"");
            JvmProgram launches = finder.service(Jvm.found().getFirst(), "LaunchLoop", "bench").awaitLine("{\"what\"");
            JvmProgram leaking = finder.service(Jvm.newest(), "LeakingService", "serve").awaitLine("ready");
            long endNs = System.nanoTime() + Duration.ofSeconds(seconds).toNanos();
            int looks = 0;
            do {
                scoring.tell("go 500");
                launches.tell("go 1000");
                scoring.awaitLines(++looks + 1);
                launches.awaitLines(looks + 1);
                assertEquals(List.of(), finder.accused(scoring), "look " + looks);
                assertEquals(List.of(), finder.accused(launches), "look " + looks);
                List<String> accused = finder.accused(leaking);
                assertTrue(accused.size() <= 1, accused::toString);
                assertTrue(accused.stream().allMatch(site -> site.startsWith(LeakFinder.LEAKING)), accused::toString);
                assertTrue(looks < 4 || accused.size() == 1, "the leak is not named in look " + looks);
                TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
            } while (System.nanoTime() - endNs < 0);
            System.out.println("no false report in " + 3 * looks + " looks over " + seconds + " s");
            for (JvmProgram service : List.of(scoring, launches, leaking)) {
                ProcessResult ended = service.finish().end();
                assertEquals(0, ended.exit(), ended::toString);
            }
        }
    }
}

package io.tessera.attacks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.clock.Clocks;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The whole suite on the software GPU, and the proof that it can fail. {@code -Dtessera.seed} repeats a run. */
class AttackSuiteTest {
    private static final List<String> OPTIONS = List.of("--executors", "software", "--software-memory", "256MiB",
            "--kernel-timeout", "1s", "--unfenced", "refuse", "--fence-alone", "yes");
    /** The largest texts are made smaller, since the time to read them grows with their size, and the time limits do not. */
    private static final Map<String, String> ATTACKERS = Map.of("ATTACK_SHARE", "100");
    /** Time limit, long enough for slow machines on which a build has two processors. */
    private static final long LIMIT_SECONDS = 1200;
    /**
     * Maximum number of repetitions of a failed attack. Programs are ended by time limits of seconds, and the victim's kernels share two processors with those
     * of the attack and of other tests. A program that is slow for that reason alone is not slow every time. An escape is never repeated.
     */
    private static final int MOST_REPETITIONS = 2;

    @TempDir
    Path folder;

    private SuiteReport run(boolean control, List<String> only) throws Exception {
        return run(control, only, AttackSettings.usualLanes(Runtime.getRuntime().availableProcessors()), folder);
    }

    private static SuiteReport run(boolean control, List<String> only, int lanes, Path folder) throws Exception {
        long seed = Long.getLong("tessera.seed", new Random().nextLong() >>> 1);
        System.out.println("seed " + seed);
        AttackSettings settings = new AttackSettings(AttackInstallation.of(Path.of(System.getProperty("tessera.root")).toAbsolutePath().normalize()),
                OPTIONS, ATTACKERS, only, List.of(), seed, 30, 10_000,
                lanes, LIMIT_SECONDS, 1, control);
        SuiteReport report = new AttackSuite(settings, folder, Clocks.system().monotonic())
                .run(known -> System.out.println(SuiteReport.line(known.verdicts().getLast())));
        report.sums().forEach(System.out::println);
        return report;
    }

    @Test
    @Timeout(1500)
    void nothingGetsThrough() throws Exception {
        SuiteReport report = run(false, List.of());
        assertTrue(report.verdicts().size() > 280, () -> "only " + report.verdicts().size() + " attacks");
        assertEquals(List.of(), report.unmade(), "no time for these");
        assertEquals(0, report.escapes(), "escapes");
        assertEquals(List.of(), report.verdicts().stream().filter(verdict -> !verdict.untried().isEmpty()).map(SuiteReport::line)
                .toList(), "attacks that could not begin prove nothing");
        Map<String, String> failed = failed(report);
        for (int again = 0; again < MOST_REPETITIONS && !failed.isEmpty(); again++) {
            System.out.println("not as stated, tried again one by one: " + failed);
            SuiteReport alone = run(false, List.copyOf(failed.keySet()), 1, Files.createDirectories(folder.resolve("again-" + again)));
            assertEquals(0, alone.escapes(), "escapes");
            failed = failed(alone);
        }
        assertEquals(Map.of(), failed, "attacks that did not fare as stated");
    }

    /** Returns the attacks whose outcome differs from the required one, including all that disturbed the victim. */
    private static Map<String, String> failed(SuiteReport report) {
        Map<String, String> failed = new TreeMap<>();
        for (AttackOutcome verdict : report.verdicts()) {
            if (!verdict.held()) {
                failed.put(verdict.attack().name(), SuiteReport.line(verdict));
            }
        }
        return failed;
    }

    /** Without fences the same attacks succeed, which shows that the suite can fail. */
    @Test
    @Timeout(300)
    void withoutFencesTheSuiteSeesEscapes() throws Exception {
        SuiteReport report = run(true, List.of("load/index", "load/generic", "load/aim_global", "store/vector4", "store/bytes",
                "atomic/exchange", "atomic/reduce", "pointer/from_kernel", "async/copy", "code/indirect"));
        assertEquals(10, report.escapes(), () -> "of " + report.verdicts().size());
    }
}

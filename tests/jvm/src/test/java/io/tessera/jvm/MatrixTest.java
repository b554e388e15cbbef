package io.tessera.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each sample with the agent, with the wrapper and with both, on the software GPU: the output is the same.
 *
 * <p>By default each sample is started in each way once, the JVMs taking turns, so that each pair of sample and start, of
 * JVM and start, and of JVM and sample occurs. {@code -Dtessera.jvm.matrix=full} runs every combination.
 */
@Timeout(600)
class MatrixTest {
    private static final boolean FULL = System.getProperty("tessera.jvm.matrix", "pairs").equals("full");
    /** Tenants at once: they share the software GPU, so their kernels are fenced. */
    private static final int AT_ONCE = 3;
    private static World world;

    @BeforeAll
    static void start() {
        System.out.println("JVMs: " + Jvm.found() + "; absent and not tested: " + Jvm.absent() + "; matrix "
                + (FULL ? "full" : "pairs"));
        world = new World().withManager();
    }

    @AfterAll
    static void end() {
        List<String> complaints = world.managersLog().stream()
                .filter(line -> line.contains(" WARN ") || line.contains(" ERROR ")).toList();
        world.close();
        assertEquals(List.of(), complaints, "in the manager's log");
    }

    private record Combination(Jvm jvm, TenantStart start) {
    }

    private static List<Combination> combinations(Sample sample) {
        List<Jvm> jvms = Jvm.found();
        Set<Combination> combinations = new LinkedHashSet<>();
        for (TenantStart start : TenantStart.values()) {
            if (FULL) {
                jvms.forEach(jvm -> combinations.add(new Combination(jvm, start)));
            } else {
                combinations.add(new Combination(jvms.get((sample.ordinal() + start.ordinal()) % jvms.size()), start));
            }
        }
        return List.copyOf(combinations);
    }

    @ParameterizedTest
    @EnumSource
    void theOutputIsTheSame(Sample sample) {
        List<Combination> all = combinations(sample);
        List<ProcessResult> ends = new ArrayList<>();
        for (int at = 0; at < all.size(); at += AT_ONCE) {
            List<JvmProgram> programs = all.subList(at, Math.min(all.size(), at + AT_ONCE)).stream()
                    .map(combination -> world.sample(combination.jvm(), sample, combination.start())).toList();
            programs.forEach(program -> ends.add(program.end()));
        }
        for (ProcessResult ended : ends) {
            assertEquals(0, ended.exit(), ended::toString);
            assertTrue(ended.output().getLast().endsWith(": correct"), ended::toString);
            assertEquals(List.of(), ended.errors(), ended::toString);
            assertEquals(ends.getFirst().output(), ended.output(), ended::toString);
        }
    }

    @Test
    void everyPairOccurs() {
        record Pair(Object one, Object other) {
        }

        List<Jvm> jvms = Jvm.found();
        Set<Pair> pairs = new LinkedHashSet<>();
        for (Sample sample : Sample.values()) {
            for (Combination combination : combinations(sample)) {
                pairs.add(new Pair(sample, combination.start()));
                pairs.add(new Pair(combination.jvm(), combination.start()));
                pairs.add(new Pair(combination.jvm(), sample));
            }
        }
        int samples = Sample.values().length;
        int starts = TenantStart.values().length;
        // With more JVMs than ways to start, a sample cannot be on all of them.
        int ofJvmAndSample = samples * Math.min(jvms.size(), FULL ? jvms.size() : starts);
        assertEquals(samples * starts + jvms.size() * starts + ofJvmAndSample, pairs.size());
    }
}

package io.tessera.cli.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.cli.jvm.LeakSite.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class LeakSiteTest {
    private static List<OldAllocation> at(String site, LongStream agesMs) {
        return agesMs.mapToObj(age -> new OldAllocation(site, "device", 100, age, false)).toList();
    }

    private static Verdict verdict(List<OldAllocation> allocations) {
        List<LeakSite> sites = LeakSite.of(allocations);
        assertEquals(1, sites.size());
        return sites.getFirst().verdict();
    }

    @Test
    void oneLostOwnerIsALeak() {
        List<OldAllocation> all = new ArrayList<>(at("a", LongStream.of(5, 6, 7)));
        assertEquals(Verdict.OLD, verdict(all));
        all.add(new OldAllocation("a", "device", 1, 9, true));
        assertEquals(List.of(new LeakSite("a", "device", 4, 301, 9, 5, 1, Verdict.LEAK)), LeakSite.of(all));
    }

    @Test
    void steadyGrowthIsSeen() {
        assertEquals(Verdict.GROWS, verdict(at("a", LongStream.range(0, 1000).map(i -> i * 40))));
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        assertEquals(Verdict.GROWS, verdict(at("a", new Random(seed).longs(2000, 1, 100_000))));
    }

    @Test
    void aPoolIsNoGrowthHoweverItWasFilled() {
        int many = 10 * LeakSite.GROWTH_COUNT;
        assertEquals(Verdict.OLD, verdict(at("a", LongStream.generate(() -> 70_000).limit(many))), "all at once");
        assertEquals(Verdict.OLD, verdict(at("a", LongStream.concat(LongStream.range(0, many).map(i -> 90_000 + i),
                LongStream.of(40_000, 100)))), "at the start, and a few later");
        assertEquals(Verdict.OLD, verdict(at("a", LongStream.range(0, LeakSite.GROWTH_COUNT - 1).map(i -> i * 300))),
                "one for each of a large machine's threads");
    }

    @Test
    void leaksComeFirstThenBytes() {
        List<OldAllocation> all = new ArrayList<>(at("few", LongStream.of(1)));
        all.addAll(at("many", IntStream.range(0, 5).asLongStream()));
        all.add(new OldAllocation("lost", "pinned", 1, 1, true));
        all.addAll(at("grown", LongStream.range(0, 300)));
        assertEquals(List.of("lost", "grown", "many", "few"), LeakSite.of(all).stream().map(LeakSite::site).toList());
        assertTrue(LeakSite.of(List.of()).isEmpty());
    }
}

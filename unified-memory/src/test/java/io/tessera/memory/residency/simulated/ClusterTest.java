package io.tessera.memory.residency.simulated;

import static io.tessera.memory.residency.simulated.ClusterSettings.GIB;
import static io.tessera.memory.residency.simulated.ClusterSettings.MIB;
import static io.tessera.memory.residency.simulated.ClusterSettings.MS;
import static io.tessera.memory.residency.simulated.ClusterSettings.SECOND;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.memory.residency.MoveRates;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;

/**
 * Whole clusters over simulated time, with delays, failing copies, deaths and evictions by hand. The simulation itself throws if more is held, or may
 * be held, than there is, and if contents are not what was written last.
 */
class ClusterTest {
    private static final long CHUNK = 64 * MIB;

    /** Checks the longest single wait: the longest turns and hand-overs of all other clients, twice, for clients that came in between. */
    private static void checkWaits(Cluster cluster, int clients) {
        long moveNs = (long) cluster.settings().rates().moveNs(cluster.settings().capacityBytes(),
                cluster.settings().capacityBytes());
        long boundNs = 2L * clients * (cluster.manager().longestQuantumNs() + 2 * moveNs + 100 * MS);
        long longestNs = cluster.waitsNs().stream().mapToLong(Long::longValue).max().orElse(0);
        assertTrue(longestNs <= boundNs, () -> "somebody waited for " + longestNs / MS + " ms, bound " + boundNs / MS
                + " ms, seed " + cluster.settings().seed());
    }

    private static void checkOver(Cluster cluster, boolean over) {
        assertTrue(over, () -> cluster.clients().stream().filter(client -> !client.over()).count()
                + " programs are not over, the simulation stands at " + cluster.queue().nowNs() / MS + " ms, seed "
                + cluster.settings().seed());
    }

    private static void play(long seed, int clients, int phases, int mostChunks, double failureShare) {
        Random random = new Random(seed);
        long capacity = (16 + random.nextInt(mostChunks - 16)) * CHUNK;
        long fixed = random.nextInt(3) == 0 ? capacity / 8 : 0;
        Cluster cluster = new Cluster(new ClusterSettings(capacity, fixed, CHUNK, MoveRates.pinned(),
                random.nextInt(3) == 0 ? 100 * MS : 0, random.nextBoolean(), failureShare, seed));
        long guaranteed = random.nextBoolean() ? capacity / 8 : 0;
        int most = (int) ((capacity - fixed - guaranteed) / CHUNK);
        for (int i = 0; i < clients; i++) {
            int chunks = 1 + random.nextInt(random.nextBoolean() ? most : Math.max(1, most / 4));
            SimulatedClient client = cluster.start(random.nextLong(3 * SECOND), i == 0 ? guaranteed : 0,
                    SimulatedPrograms.framework(chunks, phases, seed + i));
            if (random.nextInt(5) == 0) {
                cluster.queue().after(random.nextLong(20 * SECOND), () -> {
                    if (!client.over()) {
                        client.die();
                    }
                });
            }
            for (int park = random.nextInt(3); park > 0; park--) {
                cluster.queue().after(random.nextLong(20 * SECOND), () -> cluster.manager().park(client));
            }
        }
        checkOver(cluster, cluster.run(clients * 1_000 * SECOND));
        checkWaits(cluster, clients);
    }

    @Property(tries = 120, shrinking = ShrinkingMode.OFF)
    void fewTenantsAlwaysGetThrough(@ForAll long seed) {
        play(seed, 2 + (int) Long.remainderUnsigned(seed, 5), 20, 80, 0.01);
    }

    @Property(tries = 2, shrinking = ShrinkingMode.OFF)
    void manyTenantsAlwaysGetThrough(@ForAll long seed) {
        play(seed, 16 + (int) Long.remainderUnsigned(seed, 49), 4, 32, 0.001);
    }

    @Example
    void nothingMovesWhileAllFits() {
        Cluster cluster = new Cluster(ClusterSettings.h200(1));
        for (int i = 0; i < 4; i++) {
            cluster.start(i * MS, 0, SimulatedPrograms.training(60, 50, 20 * MS, 5 * MS));
        }
        checkOver(cluster, cluster.run(100 * SECOND));
        assertTrue(cluster.bus().inBytes() == 0 && cluster.bus().outBytes() == 0,
                () -> cluster.bus().inBytes() + " bytes in, " + cluster.bus().outBytes() + " out");
    }

    @Example
    void aHandoverMovesNoMoreThanIsMissing() {
        ClusterSettings settings = ClusterSettings.h200(1);
        SimulatedFigures.Run run = SimulatedFigures.trainings(2, 300, 90 * MS, 10 * MS, settings);
        double missingGib = 2 * 0.96 * 16 - 16;
        assertTrue(run.gibMoved() <= run.handovers() * (missingGib + 0.1),
                () -> run + ", " + missingGib + " GiB are missing at each");
    }

    @Example
    void theFiguresArePredictedToBeReached() {
        ClusterSettings settings = ClusterSettings.h200(1);
        double busy = SimulatedFigures.trainings(2, 300, 90 * MS, 10 * MS, settings).ofSerial();
        assertTrue(busy <= 1.05, () -> "busy: " + busy);
        double halfBusy = SimulatedFigures.trainings(3, 12, 2 * SECOND, 2 * SECOND, settings).ofSerial();
        assertTrue(halfBusy <= 0.80, () -> "half-busy: " + halfBusy);
        ClusterSettings smaller = new ClusterSettings(12 * GIB, 0, CHUNK, MoveRates.pinned(), SECOND, true, 0, 1);
        double short2 = SimulatedFigures.trainings(2, 150, 90 * MS, 10 * MS, smaller).ofSerial();
        assertTrue(short2 <= 1.25, () -> "turns of 1 s: " + short2);
        var waits = SimulatedFigures.notebooks(25, 200 * MS, settings);
        double waited = waits.get(waits.size() * 95 / 100) / SimulatedFigures.notebookMoveNs(settings);
        assertTrue(waited <= 1.2, () -> "notebooks: " + waited);
    }
}

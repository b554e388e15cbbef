package io.tessera.memory.residency.simulated;

import static io.tessera.memory.residency.simulated.ClusterSettings.GIB;
import static io.tessera.memory.residency.simulated.ClusterSettings.MIB;
import static io.tessera.memory.residency.simulated.ClusterSettings.MS;
import static io.tessera.memory.residency.simulated.ClusterSettings.SECOND;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/** What the simulation predicts for the figures that are to be measured on a device. */
final class Figures {
    private static final int LARGE = (int) (0.96 * 16 * GIB / (64 * MIB));
    private static final int NOTEBOOK = (int) (0.4 * 16 * GIB / (64 * MIB));

    /** A simulated run. */
    record Run(double ofSerial, double gibMoved, long handovers, long planCalls) {
    }

    private Figures() {
    }

    /** Total time of some trainings of 0.96 of the capacity, as a part of one after the other. */
    static Run trainings(int count, int steps, long gpuNs, long hostNs, ClusterSettings settings) {
        Cluster cluster = new Cluster(settings);
        for (int i = 0; i < count; i++) {
            cluster.start(i * 10 * MS, 0, Programs.training(LARGE, steps, gpuNs, hostNs));
        }
        if (!cluster.run(3_600 * SECOND)) {
            throw new AssertionError("not over after an hour");
        }
        long serialNs = count * Programs.aloneNs(steps, gpuNs, hostNs);
        return new Run(1.0 * cluster.lastEndNs() / serialNs, 1.0 * cluster.bus().inBytes() / GIB,
                cluster.manager().handovers(), cluster.manager().planCalls());
    }

    /** Waits of 8 notebooks of 0.4 of the capacity from a cell's first call until it runs; sorted. */
    static List<Long> notebooks(long cellNs, ClusterSettings settings) {
        Cluster cluster = new Cluster(settings);
        for (int i = 0; i < 8; i++) {
            cluster.start(i * 2 * SECOND, 0, Programs.notebook(NOTEBOOK, 60, cellNs, settings.seed() + i));
        }
        if (!cluster.run(7_200 * SECOND)) {
            throw new AssertionError("not over after two hours");
        }
        List<Long> waits = new ArrayList<>(cluster.waitsNs());
        Collections.sort(waits);
        return waits;
    }

    static double notebookMoveNs(ClusterSettings settings) {
        return settings.rates().moveNs(NOTEBOOK * settings.chunkBytes(), NOTEBOOK * settings.chunkBytes());
    }

    private static void print(String name, Run run) {
        System.out.printf(Locale.ROOT, "%-52s %.3f x serial, %6.1f GiB in, %4d turns, %6d plans%n", name, run.ofSerial(),
                run.gibMoved(), run.handovers(), run.planCalls());
    }

    /** Prints all. */
    public static void main(String[] arguments) {
        ClusterSettings settings = ClusterSettings.h200(1);
        long second = SECOND;
        for (int count = 2; count <= 3; count++) {
            print(count + " busy (90 ms + 10 ms), default", trainings(count, 600, 90 * MS, 10 * MS, settings));
            print(count + " busy, 1 s", trainings(count, 600, 90 * MS, 10 * MS, settings.withQuantumNs(second)));
            for (long phase : new long[] {100 * MS, 500 * MS, second, 2 * second, 5 * second, 10 * second}) {
                int steps = (int) Math.max(12, 60 * second / (2 * phase));
                String name = count + " half-busy, " + phase / MS + " ms + " + phase / MS + " ms";
                print(name + ", default", trainings(count, steps, phase, phase, settings));
                print(name + ", 1 s", trainings(count, steps, phase, phase, settings.withQuantumNs(second)));
            }
        }
        for (boolean share : new boolean[] {true, false}) {
            for (long cellNs : new long[] {50 * MS, 200 * MS, second, 3 * second}) {
                List<Long> waits = notebooks(cellNs, settings.withActiveShare(share));
                double moveNs = notebookMoveNs(settings);
                System.out.printf(Locale.ROOT, "8 notebooks, cells of %4d ms, %s: median %.2f, p90 %.2f, p95 %.2f, p99 %.2f, "
                        + "longest %.2f times the move of %.0f ms%n", cellNs / MS, share ? "active ones share" : "turns",
                        waits.get(waits.size() / 2) / moveNs, waits.get(waits.size() * 90 / 100) / moveNs,
                        waits.get(waits.size() * 95 / 100) / moveNs, waits.get(waits.size() * 99 / 100) / moveNs,
                        waits.getLast() / moveNs, moveNs / MS);
            }
        }
    }
}

package io.tessera.memory.residency.simulated;

import static io.tessera.memory.residency.simulated.ClusterSettings.GIB;
import static io.tessera.memory.residency.simulated.ClusterSettings.MIB;
import static io.tessera.memory.residency.simulated.ClusterSettings.MS;
import static io.tessera.memory.residency.simulated.ClusterSettings.SECOND;

import io.tessera.memory.residency.MoveRates;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/** Predictions of the simulation for the figures that are to be measured on a device. */
final class SimulatedFigures {
    private static int large(ClusterSettings settings) {
        return (int) (0.96 * settings.capacityBytes() / settings.chunkBytes());
    }

    private static final int NOTEBOOK = (int) (0.4 * 16 * GIB / (64 * MIB));

    /** A simulated run. */
    record Run(double ofSerial, double gibMoved, long handovers, long planCalls) {
    }

    private SimulatedFigures() {
    }

    /** Returns the total time of some trainings of 0.96 of the capacity, as a part of the time in sequence. */
    static Run trainings(int count, int steps, long gpuNs, long hostNs, ClusterSettings settings) {
        Cluster cluster = new Cluster(settings);
        for (int i = 0; i < count; i++) {
            cluster.start(i * 10 * MS, 0, SimulatedPrograms.training(large(settings), steps, gpuNs, hostNs));
        }
        if (!cluster.run(3_600 * SECOND)) {
            throw new AssertionError("not over after an hour");
        }
        long serialNs = count * SimulatedPrograms.aloneNs(steps, gpuNs, hostNs);
        return new Run(1.0 * cluster.lastEndNs() / serialNs, 1.0 * cluster.bus().inBytes() / GIB,
                cluster.manager().handovers(), cluster.manager().planCalls());
    }

    /** Returns the waits of 8 notebooks of 0.4 of the capacity from a cell's first call until it runs; sorted. */
    static List<Long> notebooks(int cells, long cellNs, ClusterSettings settings) {
        Cluster cluster = new Cluster(settings);
        for (int i = 0; i < 8; i++) {
            cluster.start(i * 2 * SECOND, 0, SimulatedPrograms.notebook(NOTEBOOK, cells, cellNs, settings.seed() + i));
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
        System.out.printf(Locale.ROOT, "%-60s %.3f x serial, %6.1f GiB in, %4d hand-overs, %6d plans%n", name, run.ofSerial(),
                run.gibMoved(), run.handovers(), run.planCalls());
    }

    private static void printTrainings(String what, int steps, long gpuNs, long hostNs) {
        for (int count = 2; count <= 3; count++) {
            String name = String.format(Locale.ROOT, "%d %s (%d ms + %d ms)", count, what, gpuNs / MS, hostNs / MS);
            for (long gib : new long[] {8, 12, 16}) {
                ClusterSettings settings = new ClusterSettings(gib * GIB, 0, 64 * MIB, MoveRates.pinned(), 0, true, 0, 1);
                String size = ", " + gib + " GiB";
                print(name + size, trainings(count, steps, gpuNs, hostNs, settings));
                print(name + size + ", 1 s", trainings(count, steps, gpuNs, hostNs, settings.withQuantumNs(SECOND)));
            }
        }
    }

    private static void printNotebooks(long cellNs, ClusterSettings settings) {
        List<Long> waits = notebooks(60, cellNs, settings);
        double moveNs = notebookMoveNs(settings);
        System.out.printf(Locale.ROOT, "8 notebooks, cells of %4d ms, %s: median %.2f, p90 %.2f, p95 %.2f, p99 %.2f, "
                + "longest %.2f times the move of %.0f ms%n", cellNs / MS,
                settings.activeShare() ? "active ones share" : "all take turns", waits.get(waits.size() / 2) / moveNs,
                waits.get(waits.size() * 90 / 100) / moveNs, waits.get(waits.size() * 95 / 100) / moveNs,
                waits.get(waits.size() * 99 / 100) / moveNs, waits.getLast() / moveNs, moveNs / MS);
    }

    /** Prints all figures. */
    public static void main(String[] arguments) {
        printTrainings("busy", 600, 90 * MS, 10 * MS);
        for (long phaseNs : new long[] {100 * MS, 500 * MS, SECOND, 2 * SECOND, 5 * SECOND}) {
            printTrainings("half-busy", (int) Math.max(12, 60 * SECOND / (2 * phaseNs)), phaseNs, phaseNs);
        }
        for (long cellNs : new long[] {50 * MS, 200 * MS, SECOND}) {
            printNotebooks(cellNs, ClusterSettings.h200(1));
            printNotebooks(cellNs, ClusterSettings.h200(1).withActiveShare(false));
        }
    }
}

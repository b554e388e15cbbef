package io.tessera.memory.residency.simulated;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Programs in phases. */
final class SimulatedPrograms {
    private static final long MS = ClusterSettings.MS;

    private SimulatedPrograms() {
    }

    /** Returns a training that allocates all its memory at first, and then takes steps; {@code hostNs} between steps. */
    static Iterator<Phase> training(int chunks, int steps, long gpuNs, long hostNs) {
        Phase step = new Phase(0, 0, gpuNs, hostNs);
        return Stream.concat(Stream.of(new Phase(0, chunks, gpuNs, hostNs)),
                IntStream.range(1, steps).mapToObj(i -> step)).iterator();
    }

    /** Returns the time that it takes alone. */
    static long aloneNs(int steps, long gpuNs, long hostNs) {
        return steps * (gpuNs + hostNs);
    }

    /** Cells of {@code cellNs} on average, think times from 1 to 60 s, most of them short. */
    static Iterator<Phase> notebook(int chunks, int cells, long cellNs, long seed) {
        Random random = new Random(seed);
        return IntStream.range(0, cells).mapToObj(cell -> new Phase(0, cell == 0 ? chunks : 0,
                (long) (cellNs * (0.5 + random.nextDouble())),
                (long) (1_000 * MS * Math.exp(random.nextDouble() * Math.log(60))))).iterator();
    }

    /**
     * Returns a program like a recorded framework: it grows over the first phases, then frees and allocates a tenth around its size, with bursts of
     * short steps, pauses, and an occasional large temporary.
     */
    static Iterator<Phase> framework(int chunks, int phases, long seed) {
        Random random = new Random(seed);
        List<Phase> list = new ArrayList<>();
        int live = 0;
        for (int i = 0; i < phases; i++) {
            int goal = i < 4 ? chunks * (i + 1) / 4 : chunks - random.nextInt(chunks / 10 + 1);
            boolean temporary = random.nextInt(8) == 0;
            int frees = temporary ? Math.min(live, live / 3) : Math.max(0, live - goal) + random.nextInt(live / 20 + 1);
            int allocates = Math.max(0, goal - (live - frees));
            live += allocates - frees;
            long gpuNs = random.nextInt(3) == 0 ? 300 * MS : 5 * MS + random.nextLong(40 * MS);
            long hostNs = switch (random.nextInt(4)) {
                case 0 -> random.nextLong(2_000 * MS);
                case 1 -> random.nextLong(100 * MS);
                default -> random.nextLong(2 * MS);
            };
            list.add(new Phase(frees, allocates, gpuNs, hostNs));
        }
        return list.iterator();
    }
}

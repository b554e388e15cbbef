package io.tessera.bench;

import io.tessera.memory.residency.ClientMemoryState;
import io.tessera.memory.residency.ResidencyPlan;
import io.tessera.memory.residency.ResidencyPlanner;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One plan of a device's residency in the middle of a hand-over: a client runs and lacks half of its memory, most others
 * await turns, some are idle. A manager makes a plan for every chunk that moves, about one a millisecond. One thread;
 * nanoseconds per plan.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class ResidencyPlanBenchmark {
    private static final long MIB = 1L << 20;
    private static final long CAPACITY_BYTES = 16_384 * MIB;

    /** Clients on the device. */
    @Param({"2", "8", "64"})
    private int clients;

    private final ResidencyPlanner planner = new ResidencyPlanner();
    private final List<ClientMemoryState> words = new ArrayList<>();

    /** Fills the device; checks that the plan takes memory from a client. */
    @Setup
    public void fill() {
        long heldBytes = CAPACITY_BYTES / clients / MIB * MIB;
        for (int id = 0; id < clients; id++) {
            boolean running = id == 0;
            long neededBytes = Math.min(2 * heldBytes, CAPACITY_BYTES * 9 / 10);
            words.add(new ClientMemoryState(id, "tenant" + id % 16, heldBytes, heldBytes, neededBytes, id % 7 * MIB, 0, 0,
                    id % 8 == 3 ? heldBytes / 4 : 0, !running, false, id % 5 == 4 ? ClientMemoryState.UNKNOWN : id * 1_000L,
                    id, running));
        }
        ResidencyPlan plan = plan();
        if (plan.settled() || plan.goals().get(0L) < words.getFirst().neededBytes()) {
            throw new IllegalStateException("nothing moves: " + plan);
        }
    }

    /** The whole plan, including its sentence. */
    @Benchmark
    public ResidencyPlan plan() {
        return planner.plan(CAPACITY_BYTES, words, 1_000);
    }
}

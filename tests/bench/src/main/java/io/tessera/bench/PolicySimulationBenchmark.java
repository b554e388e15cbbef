package io.tessera.bench;

import io.tessera.policy.PolicyName;
import io.tessera.policy.simulation.DeviceSimulation;
import io.tessera.policy.simulation.LoopGenerator;
import io.tessera.policy.simulation.RunObserver;
import io.tessera.policy.simulation.SchedulingTrace;
import io.tessera.policy.simulation.SimulationResult;
import io.tessera.policy.simulation.SimulationSettings;
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
 * A simulated device with each policy: a hundred turns of each tenant, so a million with 10,000 tenants. All tenants have work most of the
 * time, which is the maximum load for a policy. One thread; seconds for all turns, in a JVM that has just started, as a command's has.
 */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.SECONDS)
@State(Scope.Thread)
@Fork(1)
@Warmup(iterations = 0)
@Measurement(iterations = 1)
public class PolicySimulationBenchmark {
    /** Tenants of the device. */
    @Param({"100", "10000"})
    private int tenants;

    /** All of them, which is what JMH does without names. */
    @Param
    private PolicyName policy;

    private SchedulingTrace trace;

    /** Makes the trace. */
    @Setup
    public void generate() {
        trace = LoopGenerator.crowd(tenants, 1);
    }

    /** The whole simulation. */
    @Benchmark
    public SimulationResult simulate() {
        SimulationResult result = DeviceSimulation.run(trace, SimulationSettings.submissions(policy, Long.MAX_VALUE), RunObserver.NONE);
        if (result.turns() < 100L * tenants / 2) {
            throw new IllegalStateException("only " + result.turns() + " turns");
        }
        return result;
    }
}

package io.tessera.bench;

import io.tessera.manager.schedule.DeviceScheduler;
import io.tessera.manager.schedule.SchedulerMode;
import io.tessera.manager.schedule.turn.ScheduleSettings;
import io.tessera.policy.TenantTerms;
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
 * One duty cycle of a device's scheduler: a millisecond passes, clients work, due actions run, orders are answered.
 * The hand-over that falls due every hundredth cycle is part of the average. One thread; nanoseconds per cycle.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class DutyCycleBenchmark {
    private static final long CYCLE_NS = 1_000_000L;
    /** Cycles after which every mode has measured and decided: the automatic one takes seconds. */
    private static final int SETTLING_CYCLES = 20_000;

    /** Clients with work on the device. */
    @Param({"2", "50"})
    private int clients;

    /** The scheduler's mode. */
    @Param({"OFF", "ON", "AUTO"})
    private SchedulerMode mode;

    private DeviceScheduler scheduler;
    private PromptClients port;
    private long nowNs;

    /** Lets all clients join and the mode settle; checks that the clients are really served. */
    @Setup
    public void join() {
        nowNs = 1_000_000_000L;
        port = new PromptClients(clients);
        scheduler = new DeviceScheduler(ScheduleSettings.defaults(), port, nowNs);
        scheduler.mode(mode, nowNs);
        for (long client = 1; client <= clients; client++) {
            scheduler.joined(client, "p" + client, TenantTerms.DEFAULT, nowNs);
            scheduler.wants(client, nowNs, nowNs);
        }
        for (int cycle = 0; cycle < SETTLING_CYCLES; cycle++) {
            cycle();
        }
        long handovers = scheduler.snapshot(nowNs).handovers();
        if (mode == SchedulerMode.ON && handovers < SETTLING_CYCLES / 200) {
            throw new IllegalStateException("only " + handovers + " hand-overs in " + SETTLING_CYCLES + " ms");
        }
    }

    /** A whole cycle. */
    @Benchmark
    public int cycle() {
        nowNs += CYCLE_NS;
        port.workOneMs();
        return scheduler.doWork(nowNs) + port.answer(scheduler, nowNs);
    }

    /** The query that the conductor makes before it waits. */
    @Benchmark
    public long nextDeadline() {
        return scheduler.nextDeadlineNs();
    }
}

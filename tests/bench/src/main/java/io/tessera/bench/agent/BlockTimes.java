package io.tessera.bench.agent;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * Processor time that the blocks of an iteration took, in JMH's counters: they do not include other load of the machine.
 * One thread.
 */
@State(Scope.Thread)
@AuxCounters(AuxCounters.Type.EVENTS)
public class BlockTimes {
    /** Times of the blocks without records, nanoseconds. */
    public long plainNs;
    /** Times of further blocks without records, if any, which show how much equal blocks differ. */
    public long againNs;
    /** Times of the blocks with records, nanoseconds. */
    public long recordedNs;
    /** Launches of each kind. */
    public long launches;

    private final ThreadMXBean clock = ManagementFactory.getThreadMXBean();

    /** Begins an iteration. */
    @Setup(Level.Iteration)
    public void begin() {
        plainNs = 0;
        againNs = 0;
        recordedNs = 0;
        launches = 0;
    }

    /** Returns the processor time of this thread so far; the call takes some hundred nanoseconds. */
    long nowNs() {
        return clock.getCurrentThreadCpuTime();
    }
}

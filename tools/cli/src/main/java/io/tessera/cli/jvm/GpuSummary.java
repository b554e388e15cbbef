package io.tessera.cli.jvm;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import javax.management.Attribute;

/**
 * The scalar attributes of the agent's bean.
 *
 * @param version         version of the agent
 * @param recording       {@code on}, {@code off} or {@code sampled:N}
 * @param late            whether the agent was attached late, so that it does not know earlier allocations
 * @param driver          whose CUDA driver the process has: agent, wrapper, vendor or none
 * @param liveBytes       live device memory
 * @param liveAllocations live allocations
 * @param launches        launches recorded since the start
 * @param turnWaitNs      time that submissions waited for turns since the start
 * @param evictedBytes    device memory that was moved to the host for others since the start
 * @param swappedBytes    size of the program's device memory that is off the device now
 * @param suppressed      errors of the agent that were hidden from the program
 * @param dropped         events lost because a table was full
 */
record GpuSummary(String version, String recording, boolean late, String driver, long liveBytes, long liveAllocations,
        long launches, long turnWaitNs, long evictedBytes, long swappedBytes, long suppressed, long dropped) {
    /** The bean's attributes that are read. */
    static final String[] ATTRIBUTES = {"AgentVersion", "Recording", "Late", "Driver", "LiveBytes", "LiveAllocations",
            "Launches", "TurnWaitNanos", "EvictedBytes", "SwappedBytes", "Suppressed", "Dropped"};

    /** Creates a summary of the bean's attributes; numbers that an agent of another version lacks are 0. */
    static GpuSummary of(List<Attribute> attributes) {
        Map<String, Object> values = attributes.stream().collect(Collectors.toMap(Attribute::getName,
                Attribute::getValue));
        Function<String, Long> number = name -> (Long) values.getOrDefault(name, 0L);
        return new GpuSummary((String) values.get("AgentVersion"), (String) values.get("Recording"),
                (Boolean) values.get("Late"), (String) values.get("Driver"), number.apply("LiveBytes"),
                number.apply("LiveAllocations"), number.apply("Launches"), number.apply("TurnWaitNanos"),
                number.apply("EvictedBytes"), number.apply("SwappedBytes"), number.apply("Suppressed"),
                number.apply("Dropped"));
    }
}

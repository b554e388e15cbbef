package io.tessera.cli.jvm;

import java.lang.management.ManagementFactory;
import java.util.List;
import javax.management.ObjectName;

/** An agent with the real one's bean and invented rows. Any thread. */
public final class StandInAgent implements StandInGpuMXBean {
    private static boolean off;

    private final boolean late;
    private volatile String recording = "sampled:8";

    private StandInAgent(boolean late) {
        this.late = late;
    }

    public static void premain(String options) throws Exception {
        register(options, false);
    }

    public static void agentmain(String options) throws Exception {
        register(options, true);
    }

    private static void register(String options, boolean late) throws Exception {
        off |= "jmx=off".equals(options);
        if (!off) {
            ManagementFactory.getPlatformMBeanServer().registerMBean(new StandInAgent(late),
                    new ObjectName("io.tessera:type=Gpu"));
        }
    }

    /** A program that says when it runs and ends with its standard input. */
    public static final class Program {
        private Program() {
        }

        public static void main(String[] arguments) throws Exception {
            System.out.println("ready");
            while (System.in.read() >= 0) {
                continue;
            }
        }
    }

    @Override
    public String getAgentVersion() {
        return "9.9";
    }

    @Override
    public String getRecording() {
        return recording;
    }

    @Override
    public boolean isLate() {
        return late;
    }

    @Override
    public String getDriver() {
        return "agent";
    }

    @Override
    public long getSuppressed() {
        return 2;
    }

    @Override
    public long getDropped() {
        return 5;
    }

    @Override
    public long getLiveBytes() {
        return 3 << 20;
    }

    @Override
    public long getLiveAllocations() {
        return 7;
    }

    @Override
    public long getTurnWaitNanos() {
        return 1_500_000;
    }

    @Override
    public long getLaunches() {
        return 12_345;
    }

    @Override
    public List<HeapRow> heap(int top) {
        return List.of(new HeapRow("a.Model", "a.Model.load:10", "device", 1, 2 << 20, 60_000),
                new HeapRow("a.Cache", "a.Cache.put:20", "device", 6, 1 << 20, 50_000)).subList(0, Math.min(2, top));
    }

    @Override
    public List<LeakRow> leaks(long olderThanMillis, int top) {
        return List.of(new LeakRow("0x10", 2 << 20, "device", "a.Model", "a.Model.load:10", 1, 60_000, false),
                new LeakRow("0x20", 1024, "device", "a.Cache", "a.Cache.put:20", 1, 50_000, true),
                new LeakRow("0x30", 1024, "device", "a.Cache", "a.Cache.put:20", 1, 10_000, false)).stream()
                .filter(row -> row.ageMillis() > olderThanMillis).limit(top).toList();
    }

    @Override
    public List<LaunchRow> launchers(int top) {
        return List.of(new LaunchRow("gemm", "a.Model", "a.Model.run:30", 12_000, 0),
                new LaunchRow("[copy host to device]", "a.Model", "a.Model.run:29", 345, 1 << 20));
    }

    @Override
    public void setRecording(String mode) {
        recording = mode;
    }

    @Override
    public long releaseUnreachable() {
        return 1024;
    }
}

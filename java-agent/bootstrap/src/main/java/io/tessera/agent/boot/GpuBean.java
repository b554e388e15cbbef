package io.tessera.agent.boot;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** The management bean over the {@link Recorder}'s tables. Any thread. */
public final class GpuBean implements GpuMXBean {
    private static final int NANOS_PER_MILLI = 1_000_000;

    private final String version;
    private final boolean late;
    private final String driver;

    /**
     * Creates the bean.
     *
     * @param version of the agent
     * @param late whether the agent was attached to a running JVM
     * @param driver as {@link #getDriver()} tells it
     */
    public GpuBean(String version, boolean late, String driver) {
        this.version = version;
        this.late = late;
        this.driver = driver;
    }

    @Override
    public String getAgentVersion() {
        return version;
    }

    @Override
    public String getRecording() {
        return Recorder.mode();
    }

    @Override
    public long getAgeMillis() {
        return Recorder.ageNanos() / NANOS_PER_MILLI;
    }

    @Override
    public boolean isLate() {
        return late;
    }

    @Override
    public String getDriver() {
        return driver;
    }

    @Override
    public long getSuppressed() {
        return AgentCounters.suppressed();
    }

    @Override
    public long getDropped() {
        return AgentCounters.dropped();
    }

    @Override
    public long getLiveBytes() {
        return Recorder.liveBytes();
    }

    @Override
    public long getLiveAllocations() {
        return Recorder.ALLOCATIONS.size();
    }

    @Override
    public long getTurnWaitNanos() {
        return Segment.waitNanos();
    }

    @Override
    public long getEvictions() {
        return Segment.evictions();
    }

    @Override
    public long getEvictedBytes() {
        return Segment.evictedBytes();
    }

    @Override
    public long getSwappedBytes() {
        return Segment.swappedBytes();
    }

    @Override
    public long getLaunches() {
        return Recorder.launches();
    }

    @Override
    public List<HeapRow> heap(int top) {
        Map<String, Sum> sums = new HashMap<>();
        Recorder.ALLOCATIONS.forEach(a -> sums.computeIfAbsent(a.kind + a.site.text(), k -> new Sum(a)).add(a));
        List<HeapRow> rows = new ArrayList<>();
        for (Sum sum : sums.values()) {
            rows.add(sum.row());
        }
        rows.sort(Comparator.comparingLong(HeapRow::getBytes).reversed());
        return first(rows, top);
    }

    @Override
    public List<LeakRow> leaks(long olderThanMillis, int top) {
        Recorder.OWNERS.drain();
        List<LeakRow> rows = new ArrayList<>();
        Recorder.ALLOCATIONS.forEach(a -> {
            long age = Recorder.ageOf(a) / NANOS_PER_MILLI;
            if (age >= olderThanMillis) {
                rows.add(new LeakRow("0x" + Long.toHexString(a.address), a.bytes, a.kind.label(), a.site.className(),
                        a.site.text(), a.threadId, age, a.ownerCollected()));
            }
        });
        rows.sort(Comparator.comparing(LeakRow::isOwnerCollected).thenComparing(LeakRow::getAgeMillis).reversed());
        return first(rows, top);
    }

    @Override
    public List<LauncherRow> launchers(int top) {
        List<LauncherRow> rows = new ArrayList<>();
        for (Launches launches : Recorder.LAUNCHES.all()) {
            addRows(launches, rows);
        }
        rows.sort(Comparator.comparingLong(LauncherRow::getLaunches).reversed());
        return first(rows, top);
    }

    private static void addRows(Launches launches, List<LauncherRow> rows) {
        long count = launches.count.sum();
        if (count == 0) {
            return;
        }
        long bytes = launches.bytes.sum();
        long samples = launches.samples().values().stream().mapToLong(LongAdder::sum).sum();
        if (samples == 0) {
            rows.add(new LauncherRow(launches.name, "", Site.UNSAMPLED.text(), count, bytes));
            return;
        }
        launches.samples().forEach((site, sampled) -> {
            double share = (double) sampled.sum() / samples;
            rows.add(new LauncherRow(launches.name, site.className(), site.text(), Math.round(count * share),
                    Math.round(bytes * share)));
        });
    }

    @Override
    public void setRecording(String mode) {
        Recorder.mode(mode);
    }

    @Override
    public long releaseUnreachable() {
        return Recorder.release();
    }

    @Override
    public List<PhaseRow> phases() {
        return Phases.rows();
    }

    private static <T> List<T> first(List<T> rows, int top) {
        return rows.size() <= top ? rows : new ArrayList<>(rows.subList(0, Math.max(0, top)));
    }

    /** Sums of one site and kind. */
    private static final class Sum {
        private final Allocation one;
        private long count;
        private long bytes;
        private long oldestNanos;

        Sum(Allocation one) {
            this.one = one;
        }

        void add(Allocation allocation) {
            count++;
            bytes += allocation.bytes;
            oldestNanos = Math.max(oldestNanos, Recorder.ageOf(allocation));
        }

        HeapRow row() {
            return new HeapRow(one.site.className(), one.site.text(), one.kind.label(), count, bytes,
                    oldestNanos / NANOS_PER_MILLI);
        }
    }
}

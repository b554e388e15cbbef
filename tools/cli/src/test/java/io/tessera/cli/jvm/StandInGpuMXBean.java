package io.tessera.cli.jvm;

import java.util.List;

/** The shape of the agent's bean, with rows that a test knows. */
public interface StandInGpuMXBean {
    /** A row of {@code heap}. */
    record HeapRow(String className, String site, String kind, long count, long bytes, long oldestAgeMillis) {
    }

    /** A row of {@code leaks}. */
    record LeakRow(String address, long bytes, String kind, String className, String site, long threadId,
            long ageMillis, boolean ownerCollected) {
    }

    /** A row of {@code launchers}. */
    record LaunchRow(String kernel, String className, String site, long launches, long bytes) {
    }

    String getAgentVersion();

    String getRecording();

    boolean isLate();

    String getDriver();

    long getSuppressed();

    long getDropped();

    long getLiveBytes();

    long getLiveAllocations();

    long getTurnWaitNanos();

    long getLaunches();

    List<HeapRow> heap(int top);

    List<LeakRow> leaks(long olderThanMillis, int top);

    List<LaunchRow> launchers(int top);

    void setRecording(String mode);

    long releaseUnreachable();
}

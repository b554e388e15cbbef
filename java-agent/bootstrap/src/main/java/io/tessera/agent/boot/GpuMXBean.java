package io.tessera.agent.boot;

import java.util.List;

/**
 * The agent's management bean, {@code io.tessera:type=Gpu}. Rows travel as open types, so that a client needs none of
 * these classes. Any thread; each answer is a snapshot that is not atomic over its rows.
 */
public interface GpuMXBean {
    /** Name under which the bean is registered. */
    String NAME = "io.tessera:type=Gpu";

    /**
     * Returns the agent's version.
     *
     * @return for example {@code 0.1.0}
     */
    String getAgentVersion();

    /**
     * Returns the recording mode.
     *
     * @return {@code on}, {@code off} or {@code sampled:N}
     */
    String getRecording();

    /**
     * Returns the age of the recording.
     *
     * @return milliseconds since the agent's start, or -1 if it has never recorded
     */
    long getAgeMillis();

    /**
     * Returns whether the agent was attached to a running JVM; earlier allocations are then unknown to it.
     *
     * @return true for a late attach
     */
    boolean isLate();

    /**
     * Returns which CUDA driver the process has.
     *
     * @return {@code agent}: ours, loaded by the agent; {@code wrapper}: ours, by {@code tessera run}; {@code vendor}:
     *         another was there first; {@code none}: the agent's could not be loaded
     */
    String getDriver();

    /**
     * Returns the number of errors in the agent's own code that were hidden from the application.
     *
     * @return how many since the start
     */
    long getSuppressed();

    /**
     * Returns the number of events that were lost because a table was full.
     *
     * @return how many since the start
     */
    long getDropped();

    /**
     * Returns the size of live device memory.
     *
     * @return bytes, without pinned host memory
     */
    long getLiveBytes();

    /**
     * Returns the number of live allocations of every kind.
     *
     * @return how many
     */
    long getLiveAllocations();

    /**
     * Returns how long submissions of this process waited for a turn or were held back by its pace.
     *
     * @return nanoseconds since the start; 0 where the driver is not ours
     */
    long getTurnWaitNanos();

    /**
     * Returns how often memory of this process was moved off a device for others (plan swap).
     *
     * @return times since the start; 0 where the driver is not ours
     */
    long getEvictions();

    /**
     * Returns the amount of memory moved off devices for others.
     *
     * @return bytes since the start; 0 where the driver is not ours
     */
    long getEvictedBytes();

    /**
     * Returns the size of this process's device memory whose contents are now off the device.
     *
     * @return bytes; 0 where the driver is not ours
     */
    long getSwappedBytes();

    /**
     * Returns the number of recorded launches and library calls.
     *
     * @return how many since the start
     */
    long getLaunches();

    /**
     * Returns live memory by class and call site, most bytes first.
     *
     * @param top how many rows at most
     * @return the rows
     */
    List<HeapRow> heap(int top);

    /**
     * Returns live allocations older than an age: first those whose owner was collected, then the others, oldest first.
     *
     * @param olderThanMillis the age
     * @param top how many rows at most
     * @return the rows
     */
    List<LeakRow> leaks(long olderThanMillis, int top);

    /**
     * Returns kernels and library calls by call site, most launches first. Copies are included, as
     * {@code [copy host to device]} and the like.
     *
     * @param top how many rows at most
     * @return the rows
     */
    List<LauncherRow> launchers(int top);

    /**
     * Sets the recording mode.
     *
     * @param mode {@code on}: a stack for each event within the bound; {@code off}; {@code sampled:N}: for each Nth
     */
    void setRecording(String mode);

    /**
     * Frees the device memory whose Java owner was collected. Only as safe as the program: an address that it keeps as
     * a number, or in device memory, is no owner (SAFETY.md).
     *
     * @return bytes freed
     */
    long releaseUnreachable();

    /**
     * Returns the phases that the application named, with the time spent in each.
     *
     * @return the phases, longest first
     */
    List<PhaseRow> phases();
}

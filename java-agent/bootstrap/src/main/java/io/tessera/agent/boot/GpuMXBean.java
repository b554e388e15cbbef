package io.tessera.agent.boot;

import java.util.List;

/**
 * The agent's management bean, {@code io.tessera:type=Gpu}. Rows travel as open types, so that a client needs none of
 * these classes. Any thread; each answer is a snapshot that is not atomic over its rows.
 */
public interface GpuMXBean {
    /** The name under which it is registered. */
    String NAME = "io.tessera:type=Gpu";

    /**
     * Version of the agent.
     *
     * @return for example {@code 0.1.0}
     */
    String getAgentVersion();

    /**
     * Whether and how it records.
     *
     * @return {@code on}, {@code off} or {@code sampled:N}
     */
    String getRecording();

    /**
     * Since when it has recorded.
     *
     * @return milliseconds since the agent's start, or -1 if it never has
     */
    long getAgeMillis();

    /**
     * Whether it came by attach: then what was allocated before is unknown to it.
     *
     * @return true for a late attach
     */
    boolean isLate();

    /**
     * The CUDA driver that the process has.
     *
     * @return {@code agent}: ours, loaded by the agent; {@code wrapper}: ours, by {@code tessera run}; {@code vendor}:
     *         another was there first; {@code none}: the agent's could not be loaded
     */
    String getDriver();

    /**
     * Errors in the agent's own code that were kept from the application.
     *
     * @return how many since the start
     */
    long getSuppressed();

    /**
     * Events that found a table full and are in none of the answers.
     *
     * @return how many since the start
     */
    long getDropped();

    /**
     * Live device memory.
     *
     * @return bytes, pinned host memory not among them
     */
    long getLiveBytes();

    /**
     * Live allocations of every kind.
     *
     * @return how many
     */
    long getLiveAllocations();

    /**
     * Time that submissions of this process waited for a turn or were held back by its pace.
     *
     * @return nanoseconds since the start; 0 where the driver is not ours
     */
    long getTurnWaitNanos();

    /**
     * How often memory of this process was moved off a device for others (plan swap).
     *
     * @return times since the start; 0 where the driver is not ours
     */
    long getEvictions();

    /**
     * What was moved off devices for others.
     *
     * @return bytes since the start; 0 where the driver is not ours
     */
    long getEvictedBytes();

    /**
     * Contents of this process's device memory that are off the device now.
     *
     * @return bytes; 0 where the driver is not ours
     */
    long getSwappedBytes();

    /**
     * Launches and library calls that were recorded.
     *
     * @return how many since the start
     */
    long getLaunches();

    /**
     * Live memory by class and call site, most bytes first.
     *
     * @param top how many rows at most
     * @return the rows
     */
    List<HeapRow> heap(int top);

    /**
     * Live allocations that are older than an age, those whose owner was collected first, then the oldest first.
     *
     * @param olderThanMillis the age
     * @param top how many rows at most
     * @return the rows
     */
    List<LeakRow> leaks(long olderThanMillis, int top);

    /**
     * Kernels and library calls by call site, most launches first. Copies are among them, as
     * {@code [copy host to device]} and the like.
     *
     * @param top how many rows at most
     * @return the rows
     */
    List<LauncherRow> launchers(int top);

    /**
     * Switches the recording.
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
     * Labels of what the application said it is doing, with the time that each took.
     *
     * @return the phases, longest first
     */
    List<PhaseRow> phases();
}

package io.tessera.agent.boot;

/** Receives events as they happen, for Flight Recorder for example. Called on the application's threads. */
public interface Sink {
    /**
     * Returns whether allocations and frees are wanted now; must be cheap.
     *
     * @return false: they are not passed on
     */
    boolean wantsAllocations();

    /**
     * Called after an allocation was recorded.
     *
     * @param allocation it
     */
    void allocated(Allocation allocation);

    /**
     * Called after an allocation ended.
     *
     * @param allocation it
     * @param ageNanos its lifetime in nanoseconds
     */
    void freed(Allocation allocation, long ageNanos);

    /**
     * Called for a launch whose stack was taken.
     *
     * @param kernel its name
     * @param site its call site
     * @param weight number of launches that it represents
     */
    void launched(String kernel, Site site, long weight);
}

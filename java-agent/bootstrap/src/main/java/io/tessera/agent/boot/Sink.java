package io.tessera.agent.boot;

/** Hears of events as they happen, Flight Recorder for example. Called on the application's threads. */
public interface Sink {
    /**
     * Whether allocations and frees are wanted now; must be cheap.
     *
     * @return false: they are not passed on
     */
    boolean wantsAllocations();

    /**
     * An allocation was recorded.
     *
     * @param allocation it
     */
    void allocated(Allocation allocation);

    /**
     * An allocation ended.
     *
     * @param allocation it
     * @param ageNanos how long it lived
     */
    void freed(Allocation allocation, long ageNanos);

    /**
     * A launch whose stack was taken.
     *
     * @param kernel its name
     * @param site its call site
     * @param weight launches that it stands for
     */
    void launched(String kernel, Site site, long weight);
}

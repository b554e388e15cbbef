package io.tessera.agent.boot;

/** One phase that the application named. Immutable. */
public final class PhaseRow {
    private final String label;
    private final long entered;
    private final long totalMillis;
    private final long launches;

    PhaseRow(String label, long entered, long totalMillis, long launches) {
        this.label = label;
        this.entered = entered;
        this.totalMillis = totalMillis;
        this.launches = launches;
    }

    /**
     * Returns the name.
     *
     * @return as the application gave it
     */
    public String getLabel() {
        return label;
    }

    /**
     * Returns how often it was entered.
     *
     * @return times
     */
    public long getEntered() {
        return entered;
    }

    /**
     * Returns the time spent in it.
     *
     * @return milliseconds, including the current stay
     */
    public long getTotalMillis() {
        return totalMillis;
    }

    /**
     * Returns the number of launches in it.
     *
     * @return how many
     */
    public long getLaunches() {
        return launches;
    }
}

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
     * Its name.
     *
     * @return as the application gave it
     */
    public String getLabel() {
        return label;
    }

    /**
     * How often it was entered.
     *
     * @return times
     */
    public long getEntered() {
        return entered;
    }

    /**
     * Time spent in it.
     *
     * @return milliseconds, the present one included
     */
    public long getTotalMillis() {
        return totalMillis;
    }

    /**
     * Launches in it.
     *
     * @return how many
     */
    public long getLaunches() {
        return launches;
    }
}

package io.tessera.agent.boot;

/** Live memory of one call site. Immutable. */
public final class HeapRow {
    private final String className;
    private final String site;
    private final String kind;
    private final long count;
    private final long bytes;
    private final long oldestAgeMillis;

    HeapRow(String className, String site, String kind, long count, long bytes, long oldestAgeMillis) {
        this.className = className;
        this.site = site;
        this.kind = kind;
        this.count = count;
        this.bytes = bytes;
        this.oldestAgeMillis = oldestAgeMillis;
    }

    /**
     * Returns the class of the call site.
     *
     * @return its name
     */
    public String getClassName() {
        return className;
    }

    /**
     * Returns the call site.
     *
     * @return {@code class.method:line}, or {@code unsampled}
     */
    public String getSite() {
        return site;
    }

    /**
     * Returns the kind of memory.
     *
     * @return {@code device}, {@code pinned}, {@code managed} or {@code array}
     */
    public String getKind() {
        return kind;
    }

    /**
     * Returns the number of live allocations.
     *
     * @return how many
     */
    public long getCount() {
        return count;
    }

    /**
     * Returns their total size.
     *
     * @return bytes
     */
    public long getBytes() {
        return bytes;
    }

    /**
     * Returns the age of the oldest allocation.
     *
     * @return milliseconds
     */
    public long getOldestAgeMillis() {
        return oldestAgeMillis;
    }
}

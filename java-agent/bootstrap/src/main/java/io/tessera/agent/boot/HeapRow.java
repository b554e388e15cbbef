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
     * Class of the call site.
     *
     * @return its name
     */
    public String getClassName() {
        return className;
    }

    /**
     * The call site.
     *
     * @return {@code class.method:line}, or {@code unsampled}
     */
    public String getSite() {
        return site;
    }

    /**
     * Kind of memory.
     *
     * @return {@code device}, {@code pinned}, {@code managed} or {@code array}
     */
    public String getKind() {
        return kind;
    }

    /**
     * Live allocations.
     *
     * @return how many
     */
    public long getCount() {
        return count;
    }

    /**
     * Their size.
     *
     * @return bytes
     */
    public long getBytes() {
        return bytes;
    }

    /**
     * Age of the oldest.
     *
     * @return milliseconds
     */
    public long getOldestAgeMillis() {
        return oldestAgeMillis;
    }
}

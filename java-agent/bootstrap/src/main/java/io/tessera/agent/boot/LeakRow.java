package io.tessera.agent.boot;

/** One live allocation. Immutable. */
public final class LeakRow {
    private final String address;
    private final long bytes;
    private final String kind;
    private final String className;
    private final String site;
    private final long threadId;
    private final long ageMillis;
    private final boolean ownerCollected;

    LeakRow(String address, long bytes, String kind, String className, String site, long threadId, long ageMillis,
            boolean ownerCollected) {
        this.address = address;
        this.bytes = bytes;
        this.kind = kind;
        this.className = className;
        this.site = site;
        this.threadId = threadId;
        this.ageMillis = ageMillis;
        this.ownerCollected = ownerCollected;
    }

    /**
     * Returns the address.
     *
     * @return the address, as {@code 0x...}
     */
    public String getAddress() {
        return address;
    }

    /**
     * Returns the size.
     *
     * @return bytes
     */
    public long getBytes() {
        return bytes;
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
     * Returns the thread that allocated it.
     *
     * @return its Java id
     */
    public long getThreadId() {
        return threadId;
    }

    /**
     * Returns the age.
     *
     * @return milliseconds
     */
    public long getAgeMillis() {
        return ageMillis;
    }

    /**
     * Returns whether the Java object that held its address was collected.
     *
     * @return true if so; false also if the owner is unknown
     */
    public boolean isOwnerCollected() {
        return ownerCollected;
    }
}

package io.tessera.agent.boot;

/** Launches of one kernel, or calls of one library function, from one call site. Immutable. */
public final class LauncherRow {
    private final String kernel;
    private final String className;
    private final String site;
    private final long launches;
    private final long bytes;

    LauncherRow(String kernel, String className, String site, long launches, long bytes) {
        this.kernel = kernel;
        this.className = className;
        this.site = site;
        this.launches = launches;
        this.bytes = bytes;
    }

    /**
     * Returns what was launched.
     *
     * @return kernel, library function, or {@code [copy ...]}
     */
    public String getKernel() {
        return kernel;
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
     * Returns the number of launches.
     *
     * @return launches; exact for the kernel, divided among its sites in proportion to their samples
     */
    public long getLaunches() {
        return launches;
    }

    /**
     * Returns the number of bytes that copies moved.
     *
     * @return bytes, divided as the launches are; 0 for kernels
     */
    public long getBytes() {
        return bytes;
    }
}

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
     * What was launched.
     *
     * @return kernel, library function, or {@code [copy ...]}
     */
    public String getKernel() {
        return kernel;
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
     * How often.
     *
     * @return exact for the kernel, divided over its sites as their samples are
     */
    public long getLaunches() {
        return launches;
    }

    /**
     * Bytes that copies moved.
     *
     * @return divided as the launches are; 0 for kernels
     */
    public long getBytes() {
        return bytes;
    }
}

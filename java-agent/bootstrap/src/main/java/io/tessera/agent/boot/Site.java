package io.tessera.agent.boot;

/** A call site of the application. Immutable; one instance for each site. */
public final class Site {
    /** The site of every event whose stack was not taken. */
    static final Site UNSAMPLED = new Site("", "unsampled");

    private final String className;
    private final String text;

    Site(String className, String text) {
        this.className = className;
        this.text = text;
    }

    /**
     * Returns the class of the application's first frame.
     *
     * @return its name; empty where no stack was taken
     */
    public String className() {
        return className;
    }

    /**
     * Returns the site as text.
     *
     * @return {@code class.method:line}
     */
    public String text() {
        return text;
    }
}

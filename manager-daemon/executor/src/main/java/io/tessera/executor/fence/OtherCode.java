package io.tessera.executor.fence;

/** Code of a kernel beside its first: the driver's function for it, as soon as there is one. One owner thread. */
final class OtherCode {
    /** There is none and will be none. */
    static final long NEVER = -1;

    private long function;
    private boolean stale;

    /** Returns the driver's function; 0: not yet; below 0: there is none. */
    long function() {
        return function;
    }

    /** Returns whether no search has succeeded or failed yet. */
    boolean isOpen() {
        return function == 0;
    }

    /** Returns whether there is a function. */
    boolean exists() {
        return function > 0;
    }

    /** Records the result of a search (see {@link #function}). The program's settings for the kernel are not applied to the new function. */
    void found(long newFunction) {
        function = newFunction;
        stale = true;
    }

    /** There is none and will be none, from now on. */
    void never() {
        function = NEVER;
    }

    /** The program sets something of the kernel. */
    void changed() {
        stale = true;
    }

    /** Returns whether what the program has set of the kernel has to be set of it before it is launched; it is set then. */
    boolean takeStale() {
        boolean was = stale;
        stale = false;
        return was;
    }
}

package io.tessera.executor.fence;

/** Another version of a kernel's code: the driver's function for it, once it is found. One owner thread. */
final class OtherCode {
    /** There is no such code, and will be none. */
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

    /** Records that there is no such code, and will be none. */
    void never() {
        function = NEVER;
    }

    /** Records that the program has changed an attribute of the kernel. */
    void changed() {
        stale = true;
    }

    /** Returns whether the kernel's attributes have to be copied to this code before its next launch, and takes that as done. */
    boolean takeStale() {
        boolean was = stale;
        stale = false;
        return was;
    }
}

package io.tessera.os;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Log lines that a user's processes cause: a bounded number in a time for each user, so that none of them can fill a disk or hide what was logged of
 * others. Lines that are left out are counted and reported. One owner thread.
 */
public final class LineLimit {
    private final LongSupplier clock;
    private final int lines;
    private final long windowNs;
    private final Map<Integer, Window> windows = new LinkedHashMap<>();

    private static final class Window {
        final long untilNs;
        int written;
        long leftOut;

        Window(long untilNs) {
            this.untilNs = untilNs;
        }
    }

    /**
     * Creates a limit without any lines yet.
     *
     * @param clock    clock that never goes back, nanoseconds
     * @param lines    maximum number of lines of one user in a window
     * @param windowNs length of a window, nanoseconds
     */
    public LineLimit(LongSupplier clock, int lines, long windowNs) {
        this.clock = clock;
        this.lines = lines;
        this.windowNs = windowNs;
    }

    /** Returns whether another line about a user's process may be written; counts it. */
    public boolean admits(int uid) {
        Window window = windows.computeIfAbsent(uid, _ -> new Window(clock.getAsLong() + windowNs));
        if (window.written == lines) {
            window.leftOut++;
            return false;
        }
        window.written++;
        return true;
    }

    /** Reports the lines left out in windows that are over; called from time to time. */
    public void sayLeftOut(long nowNs, Consumer<String> log) {
        for (Iterator<Map.Entry<Integer, Window>> i = windows.entrySet().iterator(); i.hasNext();) {
            Map.Entry<Integer, Window> next = i.next();
            Window window = next.getValue();
            if (nowNs - window.untilNs < 0) {
                continue;
            }
            i.remove();
            if (window.leftOut > 0) {
                log.accept(window.leftOut + " more lines about processes of user " + Integer.toUnsignedString(next.getKey())
                        + " were left out, after " + lines + " in " + windowNs / 1_000_000_000L + " s");
            }
        }
    }
}

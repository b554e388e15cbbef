package io.tessera.cli.text;

import java.io.PrintWriter;
import java.util.function.LongSupplier;

/**
 * Shows the progress in a file: on a terminal as a bar that is redrawn, elsewhere as an occasional plain line. One
 * thread.
 */
public final class ProgressLine {
    private static final String ERASE = "\r\u001b[K";
    private static final int BAR = 24;
    private static final long REDRAW_NS = 100_000_000;
    private static final long PLAIN_LINE_NS = 10_000_000_000L;

    private final PrintWriter out;
    private final boolean terminal;
    private final LongSupplier nanoTime;
    private final String what;
    private String name = "";
    private int images;
    private int done;
    private long doneBytes;
    private long shownNs;
    private boolean drawn;

    /**
     * Creates a progress line on a stream.
     *
     * @param terminal whether it is a terminal that understands ECMA-48
     * @param what     name of what the bytes belong to
     */
    public ProgressLine(PrintWriter out, boolean terminal, LongSupplier nanoTime, String what) {
        this.what = what;
        this.out = out;
        this.terminal = terminal;
        this.nanoTime = nanoTime;
    }

    /** Begins a file with this many images. */
    public void file(String fileName, int count) {
        name = TextTable.printable(fileName.substring(fileName.lastIndexOf('/') + 1));
        images = count;
        done = 0;
        shownNs = nanoTime.getAsLong();
    }

    /** Counts an image as done; {@link #show} draws the progress. */
    public void image(long bytes) {
        done++;
        doneBytes += bytes;
    }

    /** Draws the line if it was last drawn long enough ago. */
    public void show() {
        long now = nanoTime.getAsLong();
        if (now - shownNs < (terminal ? REDRAW_NS : PLAIN_LINE_NS) || images == 0) {
            return;
        }
        shownNs = now;
        String counts = done + "/" + images + " images, " + Sizes.format(doneBytes) + " of " + what;
        if (terminal) {
            int filled = BAR * done / images;
            out.print(ERASE + "[" + "#".repeat(filled) + ".".repeat(BAR - filled) + "] " + counts + "  " + name);
            drawn = true;
        } else {
            out.println(name + ": " + counts);
        }
        out.flush();
    }

    /** Erases the bar, so that lines can be printed. */
    public void clear() {
        if (drawn) {
            out.print(ERASE);
            drawn = false;
        }
    }
}

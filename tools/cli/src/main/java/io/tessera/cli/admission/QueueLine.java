package io.tessera.cli.admission;

import io.tessera.cli.text.TextTable;
import java.io.PrintWriter;

/**
 * The place in the queue: on a terminal one line that is drawn over itself, elsewhere a line whenever the place changes. One
 * thread.
 */
final class QueueLine {
    private static final String ERASE = "\r\u001b[K";

    private final PrintWriter err;
    private final boolean terminal;
    private String shown = "";

    QueueLine(PrintWriter err, boolean terminal) {
        this.err = err;
        this.terminal = terminal;
    }

    /** Shows a place, from 1. */
    void show(int place, int waiting, String reason) {
        show("place " + place + " of " + waiting + " in the queue", terminal ? "" : ": " + printable(reason));
    }

    /** Shows something else. */
    void show(String sentence) {
        show(sentence, "");
    }

    private void show(String sentence, String more) {
        if (sentence.equals(shown)) {
            return;
        }
        shown = sentence;
        if (terminal) {
            err.print(ERASE + "tessera: " + sentence);
        } else {
            err.println("tessera: " + sentence + more);
        }
        err.flush();
    }

    /** Takes the line off the terminal. */
    void erase() {
        if (terminal && !shown.isEmpty()) {
            err.print(ERASE);
            err.flush();
        }
        shown = "";
    }

    /** Any process may listen on a socket and have said anything. */
    static String printable(String text) {
        return TextTable.printable(text);
    }
}

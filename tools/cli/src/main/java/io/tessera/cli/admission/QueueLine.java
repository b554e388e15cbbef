package io.tessera.cli.admission;

import io.tessera.cli.text.TextTable;
import java.io.PrintWriter;

/**
 * Shows the position in the queue: on a terminal as one line that is redrawn, elsewhere as a new line for each change. One
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

    /** Shows a position, from 1. */
    void show(int place, int waiting, String reason) {
        show("place " + place + " of " + waiting + " in the queue", terminal ? "" : ": " + printable(reason));
    }

    /** Shows another message. */
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

    /** Erases the line from the terminal. */
    void erase() {
        if (terminal && !shown.isEmpty()) {
            err.print(ERASE);
            err.flush();
        }
        shown = "";
    }

    /** Escapes control characters, because any process may listen on the socket and send anything. */
    static String printable(String text) {
        return TextTable.printable(text);
    }
}

package io.tessera.agent.host;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Log of the agent's few messages: to stderr, to a file, or nowhere ({@code log=FILE|off}). Any thread. */
public final class AgentLog {
    private static volatile String log = "";

    private AgentLog() {
    }

    /**
     * Sets where lines are written from now on.
     *
     * @param where a file; empty is stderr, {@code off} is nowhere
     */
    public static void to(String where) {
        log = where;
    }

    /**
     * Writes one line.
     *
     * @param text the line without its end; line breaks in it become blanks
     */
    public static void say(String text) {
        String line = text.replaceAll("\\s*\\R\\s*", " ");
        String where = log;
        if (where.equals("off")) {
            return;
        }
        if (!where.isEmpty()) {
            try {
                Files.writeString(Path.of(where), line + System.lineSeparator(), StandardOpenOption.CREATE,
                        StandardOpenOption.APPEND);
                return;
            } catch (IOException | RuntimeException failure) {
                log = "";
                System.err.println("tessera-agent: cannot write " + where + ": " + failure);
            }
        }
        System.err.println("tessera-agent: " + line);
    }
}

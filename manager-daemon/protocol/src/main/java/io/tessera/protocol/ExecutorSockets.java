package io.tessera.protocol;

import java.nio.file.Path;

/** Where an executor is found, and which version managers and executors must share (RELAY.md, section 1). Pure: computes paths, touches no file. */
public final class ExecutorSockets {
    /**
     * The version of the lines between managers and executors, and of how clients are admitted: a process that meets another version leaves
     * it alone.
     */
    public static final int VERSION = 3;
    private static final String CLIENTS = ".sock";
    private static final String FOLDER = "executors";

    private ExecutorSockets() {
    }

    /** Socket of clients of the executor of a device. */
    public static Path ofClients(Path runtimeDirectory, int ordinal) {
        return folder(runtimeDirectory).resolve("executor-" + ordinal + CLIENTS);
    }

    /** Files of executors lie there: root's manager runs them as a user who owns this folder and no other. */
    public static Path folder(Path runtimeDirectory) {
        return runtimeDirectory.resolve(FOLDER);
    }

    /** Socket of managers, beside that of clients. */
    public static Path ofManagers(Path clients) {
        return sibling(clients, ".mgr");
    }

    /** The executor's pid, locked while it lives. */
    public static Path pidFile(Path clients) {
        return sibling(clients, ".pid");
    }

    /** What it logs. */
    public static Path log(Path clients) {
        return sibling(clients, ".log");
    }

    private static Path sibling(Path clients, String ending) {
        String name = clients.getFileName().toString();
        String stem = name.endsWith(CLIENTS) ? name.substring(0, name.length() - CLIENTS.length()) : name;
        return clients.resolveSibling(stem + ending);
    }
}

package io.tessera.protocol;

import java.nio.file.Path;

/** Paths of an executor, and the version that managers and executors must share (RELAY.md, section 1). Pure: computes paths, touches no file. */
public final class ExecutorSockets {
    /**
     * The version of the lines between managers and executors, and of the admission of clients: a process that meets another version leaves it alone.
     */
    public static final int VERSION = 3;
    private static final String CLIENTS = ".sock";
    private static final String FOLDER = "executors";

    private ExecutorSockets() {
    }

    /** Returns the socket for clients of a device's executor. */
    public static Path ofClients(Path runtimeDirectory, int ordinal) {
        return folder(runtimeDirectory).resolve("executor-" + ordinal + CLIENTS);
    }

    /** Returns the folder of executors' files: root's manager runs executors as a user who owns this folder and no other. */
    public static Path folder(Path runtimeDirectory) {
        return runtimeDirectory.resolve(FOLDER);
    }

    /** Returns the socket for managers, beside that for clients. */
    public static Path ofManagers(Path clients) {
        return sibling(clients, ".mgr");
    }

    /** Returns the file with the executor's pid, locked while it lives. */
    public static Path pidFile(Path clients) {
        return sibling(clients, ".pid");
    }

    /** Returns its log file. */
    public static Path log(Path clients) {
        return sibling(clients, ".log");
    }

    private static Path sibling(Path clients, String ending) {
        String name = clients.getFileName().toString();
        String stem = name.endsWith(CLIENTS) ? name.substring(0, name.length() - CLIENTS.length()) : name;
        return clients.resolveSibling(stem + ending);
    }
}

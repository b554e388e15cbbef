package io.tessera.cli.control;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Detects a manager that was stopped by a signal or by a debugger: it answers no requests and logs nothing. Stateless. */
final class StoppedManager {
    private StoppedManager() {
    }

    /**
     * Returns a message about the manager whose pid file is beside a socket.
     *
     * @return the message; empty: the process is not stopped, or cannot be examined
     */
    static Optional<String> beside(Path socket) {
        Path file = socket.resolveSibling("manager.pid");
        try {
            if (!Files.isRegularFile(file)) {
                return Optional.empty();
            }
            String pid;
            try (var reader = Files.newBufferedReader(file)) {
                char[] digits = new char[20];
                pid = new String(digits, 0, Math.max(0, reader.read(digits))).strip();
            }
            if (!pid.matches("\\d{1,10}")) {
                return Optional.empty();
            }
            // The state follows the name in parentheses, which may contain any characters.
            String stat = Files.readString(Path.of("/proc", pid, "stat"));
            return stat.substring(stat.lastIndexOf(')') + 1).strip().matches("(?s)[Tt].*")
                    ? Optional.of("it (pid " + pid + ") is stopped: kill -CONT " + pid + " lets it go on, kill -9 " + pid + " ends it")
                    : Optional.empty();
        } catch (IOException e) {
            return Optional.empty(); // no such file, or no such process
        }
    }
}

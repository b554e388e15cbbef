package io.tessera.system;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A summary of the output of a test's other processes, for readers who only have the build's log. Lines begin with {@link #MARK}, by
 * which tests/run finds them.
 */
final class ProcessSummary {
    static final String MARK = "[run] ";
    /** Maximum lines for each process: complaints, and the last lines. */
    private static final int COMPLAINTS = 12;
    private static final int LAST = 4;
    /** Maximum number of processes of a test; those with complaints come first. */
    private static final int PROGRAMS = 8;

    private final List<String> lines = new ArrayList<>();

    void manager(List<String> log) {
        log("manager", log);
    }

    /** The logs that executors left beside their sockets. */
    void executors(Path runtimeDirectory) {
        Path folder = runtimeDirectory.resolve("executors");
        if (!Files.isDirectory(folder)) {
            return;
        }
        try (DirectoryStream<Path> logs = Files.newDirectoryStream(folder, "executor-*.log")) {
            for (Path log : logs) {
                log(log.getFileName().toString(), Files.readAllLines(log, StandardCharsets.ISO_8859_1));
            }
        } catch (IOException e) {
            lines.add("executors' logs cannot be read: " + e);
        }
    }

    private void log(String who, List<String> log) {
        List<String> complaints = log.stream().filter(line -> !line.contains(" INFO ")).toList();
        complaints.stream().limit(COMPLAINTS).forEach(line -> lines.add(who + ": " + line));
        log.stream().skip(Math.max(0, log.size() - LAST)).filter(line -> line.contains(" INFO "))
                .forEach(line -> lines.add(who + ", at last: " + line));
    }

    /** Adds the programs. Those that complained or failed come first. */
    void programs(List<RunningProgram> programs) {
        List<RunningProgram> telling = programs.stream().filter(program -> !program.errors().isEmpty()
                || program.process().isAlive() || program.process().exitValue() != 0).toList();
        telling.stream().limit(PROGRAMS).forEach(program -> {
            lines.add(program.program() + " (" + program.pid() + ") "
                    + (program.process().isAlive() ? "runs" : "ended with " + program.process().exitValue()));
            last(program.output()).forEach(line -> lines.add("    output: " + line));
            last(program.errors()).forEach(line -> lines.add("    errors: " + line));
        });
        if (telling.size() > PROGRAMS) {
            lines.add("and " + (telling.size() - PROGRAMS) + " programs more");
        }
    }

    private static List<String> last(List<String> all) {
        return all.subList(Math.max(0, all.size() - LAST), all.size());
    }

    List<String> lines() {
        return lines.stream().map(line -> MARK + line).toList();
    }
}

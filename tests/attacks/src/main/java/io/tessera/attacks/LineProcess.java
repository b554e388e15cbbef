package io.tessera.attacks;

import io.tessera.clock.NanoClock;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A process with line-based input and output, and a time limit on every wait. One owner thread. */
final class LineProcess implements AutoCloseable {
    /** More lines than any program here writes: an attacker that floods its output must not exhaust memory. */
    private static final int MOST_LINES = 100_000;
    private static final String END = "\0end";

    private final Process process;
    private final NanoClock clock;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private final List<String> errors = new ArrayList<>();

    LineProcess(List<String> command, Map<String, String> environment, Path directory, NanoClock clock) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("TESSERA_") || name.startsWith("LD_"));
        builder.environment().putAll(environment);
        this.clock = clock;
        this.process = builder.start();
        listen(process.getInputStream(), line -> {
            if (lines.size() < MOST_LINES) {
                lines.add(line);
            }
        }, () -> lines.add(END));
        listen(process.getErrorStream(), this::error, () -> {});
    }

    private interface Heard {
        void line(String line);
    }

    private static void listen(InputStream from, Heard heard, Runnable end) {
        Thread.ofVirtual().start(() -> {
            // Device printf may print any byte.
            try (BufferedReader reader = new BufferedReader(new InputStreamReader(from, StandardCharsets.ISO_8859_1))) {
                for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                    heard.line(line);
                }
            } catch (IOException e) {
                heard.line("unreadable: " + e.getMessage());
            } finally {
                end.run();
            }
        });
    }

    private void error(String line) {
        synchronized (errors) {
            if (errors.size() < MOST_LINES) {
                errors.add(line);
            }
        }
    }

    /** Returns its lines on standard error so far. */
    List<String> errors() {
        synchronized (errors) {
            return List.copyOf(errors);
        }
    }

    /** Returns the next line; null: it has ended, or the time is over. */
    String line(long patienceNs) throws InterruptedException {
        String line = lines.poll(patienceNs, TimeUnit.NANOSECONDS);
        if (END.equals(line)) {
            lines.add(END);
            return null;
        }
        return line;
    }

    /** Returns the lines up to and including one with this beginning; null: it ended, or the time was over first. */
    List<String> linesUntil(String begin, long patienceNs) throws InterruptedException {
        List<String> read = new ArrayList<>();
        long untilNs = clock.nanoTime() + patienceNs;
        while (true) {
            String line = line(Math.max(1, untilNs - clock.nanoTime()));
            if (line == null) {
                return null;
            }
            read.add(line);
            if (line.startsWith(begin)) {
                return read;
            }
        }
    }

    /** Returns all lines until it ends or the time is over. */
    List<String> linesUntilEnd(long patienceNs) throws InterruptedException {
        List<String> read = new ArrayList<>();
        long untilNs = clock.nanoTime() + patienceNs;
        while (clock.nanoTime() - untilNs < 0 && read.size() < MOST_LINES) {
            String line = line(Math.max(1, untilNs - clock.nanoTime()));
            if (line == null) {
                break;
            }
            read.add(line);
        }
        return read;
    }

    void tell(String line) throws IOException {
        OutputStream input = process.getOutputStream();
        input.write((line + "\n").getBytes(StandardCharsets.UTF_8));
        input.flush();
    }

    boolean alive() {
        return process.isAlive();
    }

    /** Returns its exit code; -1: it still runs. */
    int exit(long patienceNs) {
        try {
            return process.waitFor(patienceNs, TimeUnit.NANOSECONDS) ? process.exitValue() : -1;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return -1;
        }
    }

    /** Requests its end, as a user would. */
    void terminate() {
        process.destroy();
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}

package io.tessera.jvm;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** A process of a test. Its output is read by threads, so it never blocks on a full pipe. */
final class JvmProgram implements AutoCloseable {
    /** Longest that a program may take to say or do anything; a loaded machine needs a tenth of it. */
    private static final long BOUND_SECONDS = 120;
    /** Within it a JVM has written what its threads do. */
    private static final long DUMP_MS = 3_000;

    private final List<String> command;
    private final Process process;
    private final List<String> output = new ArrayList<>();
    private final List<String> errors = new ArrayList<>();
    private final Thread outputReader;
    private final Thread errorReader;

    JvmProgram(ProcessBuilder builder) {
        command = List.copyOf(builder.command());
        try {
            process = builder.start();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + command, e);
        }
        outputReader = read(process.getInputStream(), output);
        errorReader = read(process.getErrorStream(), errors);
    }

    private static Thread read(InputStream from, List<String> into) {
        return Thread.ofVirtual().start(() -> {
            try (BufferedReader reader = new BufferedReader(new InputStreamReader(from, StandardCharsets.UTF_8))) {
                for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                    synchronized (into) {
                        into.add(line);
                        into.notifyAll();
                    }
                }
            } catch (IOException e) {
                synchronized (into) {
                    into.add("(" + e.getMessage() + ")");
                }
            }
        });
    }

    long pid() {
        return process.pid();
    }

    List<String> output() {
        synchronized (output) {
            return List.copyOf(output);
        }
    }

    List<String> errors() {
        synchronized (errors) {
            return List.copyOf(errors);
        }
    }

    /** Waits until it has written a line that begins like this. */
    JvmProgram awaitLine(String beginning) {
        return await("\"" + beginning + "\"", () -> output.stream().anyMatch(line -> line.startsWith(beginning)));
    }

    /** Waits until it has written so many lines. */
    JvmProgram awaitLines(int count) {
        return await(count + " lines", () -> output.size() >= count);
    }

    private JvmProgram await(String what, BooleanSupplier written) {
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(BOUND_SECONDS);
        synchronized (output) {
            while (!written.getAsBoolean()) {
                if (System.nanoTime() - endNs > 0 || !outputReader.isAlive()) {
                    throw new AssertionError("no " + what + " from " + this);
                }
                try {
                    output.wait(50);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new IllegalStateException("the test was interrupted", e);
                }
            }
        }
        return this;
    }

    /** Writes a line to its standard input. */
    void tell(String line) {
        try {
            process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
        } catch (IOException e) {
            throw new UncheckedIOException(this + " does not listen", e);
        }
    }

    /** Ends its standard input, which services take as a request to end. */
    JvmProgram finish() {
        tell("");
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            throw new UncheckedIOException(this + " does not listen", e);
        }
        return this;
    }

    /** Waits for its end. */
    ProcessResult end() {
        try {
            if (!process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS)) {
                dumpThreads();
                throw new AssertionError("did not end within " + BOUND_SECONDS + " s: " + this);
            }
            outputReader.join(5_000);
            errorReader.join(5_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("the test was interrupted", e);
        }
        return new ProcessResult(String.join(" ", command), process.exitValue(), output(), errors());
    }

    /** A JVM writes what its threads do and which wait for each other to its output, behind what it has written. */
    private void dumpThreads() throws InterruptedException {
        try {
            new ProcessBuilder("kill", "-QUIT", Long.toString(pid())).inheritIO().start().waitFor();
            outputReader.join(DUMP_MS);
        } catch (IOException noKill) {
            synchronized (errors) {
                errors.add("no dump of its threads: " + noKill.getMessage());
            }
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** SIGTERM. */
    void terminate() {
        process.destroy();
    }

    @Override
    public String toString() {
        return String.join(" ", command) + "\n  output: " + String.join("\n          ", output()) + "\n  errors: "
                + String.join("\n          ", errors());
    }
}

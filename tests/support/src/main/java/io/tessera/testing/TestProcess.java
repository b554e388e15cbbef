package io.tessera.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * A process of a test. Threads read its output, so it never blocks on a full pipe. Thread-safe; its owner closes it, which
 * ends the process if it still runs.
 */
public class TestProcess implements AutoCloseable {
    private static final long READERS_MS = 5_000;

    private final String name;
    private final Process process;
    private final List<String> output = new ArrayList<>();
    private final List<String> errors = new ArrayList<>();
    private final Thread outputReader;
    private final Thread errorReader;

    /**
     * Wraps a running process.
     *
     * @param name name in messages
     */
    protected TestProcess(String name, Process process) {
        this.name = name;
        this.process = process;
        this.outputReader = read(process.getInputStream(), output);
        this.errorReader = read(process.getErrorStream(), errors);
    }

    private static Thread read(InputStream from, List<String> into) {
        return Thread.ofPlatform().daemon().start(() -> {
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

    /** Returns its name in messages: its program and arguments. */
    public final String program() {
        return name;
    }

    /** Returns the process. */
    public final Process process() {
        return process;
    }

    /** Returns its process id. */
    public final long pid() {
        return process.pid();
    }

    /** Returns the lines on standard output so far. */
    public final List<String> output() {
        synchronized (output) {
            return List.copyOf(output);
        }
    }

    /** Returns the lines on standard error so far. */
    public final List<String> errors() {
        synchronized (errors) {
            return List.copyOf(errors);
        }
    }

    /** Adds a line to those on standard error, with what a test knows of the process. */
    protected final void note(String line) {
        synchronized (errors) {
            errors.add(line);
        }
    }

    /** Result of a wait for output. */
    protected enum Waited {
        /** The condition holds. */
        MET,
        /** The time limit has passed. */
        TIMED_OUT,
        /** Standard output has ended, and all of standard error has been read. */
        ENDED
    }

    /** Waits until a condition on {@link #output()} holds; it is evaluated after every line. */
    protected final Waited awaitOutput(Duration bound, BooleanSupplier condition) {
        long endNs = System.nanoTime() + bound.toNanos();
        synchronized (output) {
            while (!condition.getAsBoolean()) {
                long leftMs = TimeUnit.NANOSECONDS.toMillis(endNs - System.nanoTime());
                if (!outputReader.isAlive()) {
                    join(errorReader, READERS_MS); // the reason of its end may not have been read yet
                    return Waited.ENDED;
                }
                if (leftMs <= 0) {
                    return Waited.TIMED_OUT;
                }
                try {
                    output.wait(Math.min(leftMs, 50));
                } catch (InterruptedException e) {
                    throw interrupted(e);
                }
            }
            return Waited.MET;
        }
    }

    /** Writes a line to its standard input and does not wait for an answer. */
    public final void tell(String line) {
        try {
            process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
        } catch (IOException e) {
            throw new UncheckedIOException(name + " does not read any more: " + errors(), e);
        }
    }

    /** Waits for its end, and returns whether it ended in time. If so, all its output has been read. */
    protected final boolean awaitEnd(Duration bound) {
        try {
            if (!process.waitFor(bound.toMillis(), TimeUnit.MILLISECONDS)) {
                return false;
            }
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
        join(outputReader, READERS_MS);
        join(errorReader, READERS_MS);
        return true;
    }

    /** Waits a limited time for the end of standard output, for a process that need not end. */
    protected final void awaitEndOfOutput(long millis) {
        join(outputReader, millis);
    }

    private static void join(Thread reader, long millis) {
        try {
            reader.join(millis);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private static IllegalStateException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new IllegalStateException("the test was interrupted", e);
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
}

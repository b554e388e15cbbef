package io.tessera.system;

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

/** A program that runs. Its output is read by threads, so it never blocks on a full pipe. */
final class RunningProgram implements AutoCloseable {
    private static final Duration BOUND = Duration.ofSeconds(60);

    private final String program;
    private final Process process;
    private final List<String> output = new ArrayList<>();
    private final List<String> errors = new ArrayList<>();
    private final Thread outputReader;
    private final Thread errorReader;
    private int answered;

    RunningProgram(String program, Process process) {
        this.program = program;
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

    /** Its name and arguments. */
    String program() {
        return program;
    }

    Process process() {
        return process;
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

    /** Waits for a line of output that has not been taken yet, and takes it. */
    String nextLine(Duration bound) {
        long end = System.nanoTime() + bound.toNanos();
        synchronized (output) {
            while (output.size() <= answered) {
                long leftMs = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
                boolean over = !outputReader.isAlive();
                if (leftMs <= 0 || over) {
                    if (over) {
                        join(errorReader); // why it ended may still be on its way
                    }
                    throw new AssertionError(program + (over ? " ended and said nothing more; so far "
                            : " said nothing within " + bound.toMillis() + " ms; so far ") + output + errors());
                }
                try {
                    output.wait(Math.min(leftMs, 50));
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new IllegalStateException("the test was interrupted", e);
                }
            }
            return output.get(answered++);
        }
    }

    private static void join(Thread reader) {
        try {
            reader.join(5_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("the test was interrupted", e);
        }
    }

    /** Whether a line waits to be taken. */
    boolean hasLine() {
        synchronized (output) {
            return output.size() > answered;
        }
    }

    RunningProgram awaitLine(String expected) {
        String line = nextLine(BOUND);
        if (!line.equals(expected)) {
            throw new AssertionError(program + " said \"" + line + "\", not \"" + expected + "\"; " + errors());
        }
        return this;
    }

    /** Writes a line without waiting for an answer. */
    void tell(String line) {
        try {
            process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
        } catch (IOException e) {
            throw new UncheckedIOException(program + " does not read any more: " + errors(), e);
        }
    }

    /** A command of the fixture {@code console} and its answer. */
    String ask(String command) {
        tell(command);
        return nextLine(BOUND);
    }

    /** A command that must answer "ok", with the rest of the answer. */
    String okay(String command) {
        String answer = ask(command);
        if (!answer.startsWith("ok")) {
            throw new AssertionError(command + " answered " + answer + "; " + errors());
        }
        return answer.substring(2).strip();
    }

    RunningProgram awaitAnswer(String command, String expected) {
        String answer = ask(command);
        if (!answer.equals(expected)) {
            throw new AssertionError(command + " answered \"" + answer + "\", not \"" + expected + "\"; " + errors());
        }
        return this;
    }

    /** Ends the fixture {@code console}. */
    ProgramResult quit() {
        tell("quit");
        return end();
    }

    ProgramResult end() {
        return end(BOUND);
    }

    ProgramResult end(Duration bound) {
        try {
            if (!process.waitFor(bound.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new AssertionError(program + " did not end within " + bound.toMillis() + " ms: " + output()
                        + errors());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("the test was interrupted", e);
        }
        join(outputReader);
        join(errorReader);
        return new ProgramResult(program, process.exitValue(), output(), errors());
    }

    /** SIGKILL; answers when it was sent. */
    long kill() {
        return ProcessSignals.send(process, ProcessSignals.KILL);
    }

    /** Ends the program if it still runs. */
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

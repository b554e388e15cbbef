package io.tessera.jvm;

import io.tessera.testing.TestProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/** A JVM or a command of a test; one that hangs writes what its threads do. */
final class JvmProgram extends TestProcess {
    /** Longest that a program may take to say or do anything; a loaded machine needs a tenth of it. */
    private static final Duration BOUND = Duration.ofSeconds(120);
    /** Within it a JVM has written what its threads do. */
    private static final long DUMP_MS = 3_000;

    JvmProgram(ProcessBuilder builder) {
        super(String.join(" ", builder.command()), started(builder));
    }

    private static Process started(ProcessBuilder builder) {
        try {
            return builder.start();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + builder.command(), e);
        }
    }

    /** Waits until it has written a line that begins like this. */
    JvmProgram awaitLine(String beginning) {
        return await("\"" + beginning + "\"", () -> output().stream().anyMatch(line -> line.startsWith(beginning)));
    }

    /** Waits until it has written this many lines. */
    JvmProgram awaitLines(int count) {
        return await(count + " lines", () -> output().size() >= count);
    }

    private JvmProgram await(String what, BooleanSupplier written) {
        if (awaitOutput(BOUND, written) != Waited.MET) {
            throw new AssertionError("no " + what + " from " + this);
        }
        return this;
    }

    /** Ends its standard input, which services take as a request to end. */
    JvmProgram finish() {
        tell("");
        try {
            process().getOutputStream().close();
        } catch (IOException e) {
            throw new UncheckedIOException(this + " does not listen", e);
        }
        return this;
    }

    /** Waits for its end. */
    ProcessResult end() {
        if (!awaitEnd(BOUND)) {
            dumpThreads();
            throw new AssertionError("did not end within " + BOUND.toSeconds() + " s: " + this);
        }
        return new ProcessResult(program(), process().exitValue(), output(), errors());
    }

    /** A JVM writes what its threads do and which wait for each other to its output, behind what it has written. */
    private void dumpThreads() {
        try {
            new ProcessBuilder("kill", "-QUIT", Long.toString(pid())).inheritIO().start();
            awaitEndOfOutput(DUMP_MS);
        } catch (IOException noKill) {
            note("no dump of its threads: " + noKill.getMessage());
        }
    }

    /** SIGTERM. */
    void terminate() {
        process().destroy();
    }

    @Override
    public String toString() {
        return program() + "\n  output: " + String.join("\n          ", output()) + "\n  errors: "
                + String.join("\n          ", errors());
    }
}

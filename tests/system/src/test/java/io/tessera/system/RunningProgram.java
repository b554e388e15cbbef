package io.tessera.system;

import io.tessera.testing.TestProcess;
import java.time.Duration;

/** A running program. Takes its lines of output one after another, and sends commands to the fixture {@code console}. */
public final class RunningProgram extends TestProcess {
    private static final Duration BOUND = Duration.ofSeconds(60);

    private int answered;

    RunningProgram(String program, Process process) {
        super(program, process);
    }

    /** Waits for a line of output that has not been taken yet, and takes it. */
    public String nextLine(Duration bound) {
        Waited waited = awaitOutput(bound, () -> output().size() > answered);
        if (waited != Waited.MET) {
            throw new AssertionError(program() + (waited == Waited.ENDED ? " ended and said nothing more; so far "
                    : " said nothing within " + bound.toMillis() + " ms; so far ") + output() + errors());
        }
        return output().get(answered++);
    }

    /** Returns whether there is a line that has not been taken yet. */
    public boolean hasLine() {
        return output().size() > answered;
    }

    public RunningProgram awaitLine(String expected) {
        String line = nextLine(BOUND);
        if (!line.equals(expected)) {
            throw new AssertionError(program() + " said \"" + line + "\", not \"" + expected + "\"; " + errors());
        }
        return this;
    }

    /** Makes the fixture {@code console} initialize the driver and make a context on its first device. */
    public void openDevice() {
        okay("init");
        okay("context 0");
    }

    /** Sends a command to the fixture {@code console} and returns its answer. */
    public String ask(String command) {
        tell(command);
        return nextLine(BOUND);
    }

    /** Sends a command whose answer must begin with "ok", and returns the rest of the answer. */
    public String okay(String command) {
        String answer = ask(command);
        if (!answer.startsWith("ok")) {
            throw new AssertionError(command + " answered " + answer + "; " + errors());
        }
        return answer.substring(2).strip();
    }

    public RunningProgram awaitAnswer(String command, String expected) {
        String answer = ask(command);
        if (!answer.equals(expected)) {
            throw new AssertionError(command + " answered \"" + answer + "\", not \"" + expected + "\"; " + errors());
        }
        return this;
    }

    /** Ends the fixture {@code console}. */
    public ProgramResult quit() {
        tell("quit");
        return end();
    }

    public ProgramResult end() {
        return end(BOUND);
    }

    public ProgramResult end(Duration bound) {
        if (!awaitEnd(bound)) {
            throw new AssertionError(program() + " did not end within " + bound.toMillis() + " ms: " + output() + errors());
        }
        return new ProgramResult(program(), process().exitValue(), output(), errors());
    }

    /** Sends SIGKILL; returns the time at which it was sent. */
    public long kill() {
        return ProcessSignals.send(process(), ProcessSignals.KILL);
    }
}

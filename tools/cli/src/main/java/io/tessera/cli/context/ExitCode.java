package io.tessera.cli.context;

/**
 * Exit codes of {@code tessera}, the shell script and the Java commands alike. Otherwise {@code tessera run} ends with the exit code of its
 * program.
 */
public enum ExitCode {
    /** Done. */
    OK(0),
    /** Could not be done; one line on stderr says why. */
    FAILURE(1),
    /** Wrong usage: an unknown option or a value that does not parse. */
    USAGE(2),
    /** No manager runs, or it could not be started. */
    NO_MANAGER(3),
    /** {@code fence}: something cannot be fenced or was not found. */
    REFUSED(4),
    /** {@code run}: there was no place, with {@code --wait} none in time; EX_TEMPFAIL of sysexits.h. */
    NO_PLACE(75),
    /** {@code run}: the program could not be executed; the shell's own number. */
    NOT_EXECUTABLE(126),
    /** {@code run}: the program was not found; the shell's own number. */
    NOT_FOUND(127);

    private final int number;

    ExitCode(int number) {
        this.number = number;
    }

    /** Returns the exit code of the process. */
    public int number() {
        return number;
    }
}

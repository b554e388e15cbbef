package io.tessera.cli.doctor;

/**
 * What a check found.
 *
 * @param level   how it is
 * @param subject what was looked at, a word or two
 * @param text    what was found
 * @param advice  what to do about it; empty where there is nothing to do
 */
public record DoctorFinding(Level level, String subject, String text, String advice) {
    /** How something is. */
    public enum Level {
        /** As it should be. */
        OK,
        /** Worth knowing, nothing wrong with Tessera: no GPU on this machine, for example. */
        NOTE,
        /** Tessera will not work as it should. */
        PROBLEM
    }

    /** As it should be. */
    static DoctorFinding ok(String subject, String text) {
        return new DoctorFinding(Level.OK, subject, text, "");
    }

    /** Worth knowing. */
    static DoctorFinding note(String subject, String text, String advice) {
        return new DoctorFinding(Level.NOTE, subject, text, advice);
    }

    /** Wrong. */
    static DoctorFinding problem(String subject, String text, String advice) {
        return new DoctorFinding(Level.PROBLEM, subject, text, advice);
    }
}

package io.tessera.cli.doctor;

/**
 * A finding of a check.
 *
 * @param level   severity
 * @param subject the subject of the check, in a word or two
 * @param text    the finding
 * @param advice  the remedy; empty if there is nothing to do
 */
public record DoctorFinding(Level level, String subject, String text, String advice) {
    /** Severity of a finding. */
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

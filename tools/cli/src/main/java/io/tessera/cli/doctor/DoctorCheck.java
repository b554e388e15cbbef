package io.tessera.cli.doctor;

import java.util.List;

/**
 * A check of the doctor. To add one, implement this interface in a file of its own, give advice with every problem, and add it to the list
 * in {@link DoctorCommand}.
 */
@FunctionalInterface
public interface DoctorCheck {
    /** Runs the check, in bounded time. If something cannot be determined, that is a finding and not an exception. */
    List<DoctorFinding> findings();
}

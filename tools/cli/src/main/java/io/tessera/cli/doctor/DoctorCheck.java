package io.tessera.cli.doctor;

import java.util.List;

/**
 * One thing that the doctor looks at. To add one: implement this in a file of its own, say in every problem what the
 * user can do, and put it into the list of {@link DoctorCommand}.
 */
@FunctionalInterface
public interface DoctorCheck {
    /** Looks. Bounded in time; whatever cannot be found out is a finding, not an exception. */
    List<DoctorFinding> findings();
}

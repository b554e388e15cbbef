package io.tessera.cli.doctor;

import java.util.List;

/** Checks the Java version that runs the manager and these commands. */
final class JavaCheck implements DoctorCheck {
    private static final int NEEDED = 25;

    private final Runtime.Version version;
    private final String home;

    JavaCheck(Runtime.Version version, String home) {
        this.version = version;
        this.home = home;
    }

    @Override
    public List<DoctorFinding> findings() {
        if (version.feature() == NEEDED) {
            return List.of(DoctorFinding.ok("java", version + ", " + home));
        }
        return List.of(DoctorFinding.problem("java", version + " in " + home + " is no Java " + NEEDED,
                "install a JDK 25 or name one in TESSERA_JAVA"));
    }
}

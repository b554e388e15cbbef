package io.tessera.attacks;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Locations of the needed files: in a built source tree, or in a kit.
 *
 * @param libraries the folder of Tessera's libcuda.so.1
 * @param programs  the folder of victim and attackers
 * @param kernels   the folder of attacking kernels
 * @param app       the folder of the jars of manager and executors
 */
record AttackInstallation(Path libraries, Path programs, Path kernels, Path app) {
    /** Determines which of the two a folder is. */
    static AttackInstallation of(Path home) {
        if (Files.exists(home.resolve("native-preload/pom.xml"))) {
            Path attacks = home.resolve("tests/attacks");
            return new AttackInstallation(home.resolve("native-preload/target/lib"), attacks.resolve("target/programs"),
                    attacks.resolve("kernels"), home.resolve("tools/cli/target/app"));
        }
        Path attacks = home.resolve("attacks");
        return new AttackInstallation(home.resolve("lib"), attacks.resolve("programs"), attacks.resolve("kernels"), home.resolve("app"));
    }

    /** Returns the missing files. */
    List<Path> missing() {
        List<Path> missing = new ArrayList<>(List.of(libraries.resolve("libcuda.so.1"), programs.resolve("victim"), kernels, app));
        missing.removeIf(Files::exists);
        return missing;
    }

    /** Returns the environment of a tenant's program. */
    Map<String, String> environment(Path runtime, String tenant) {
        Map<String, String> environment = new TreeMap<>();
        environment.put("LD_LIBRARY_PATH", libraries.toString());
        environment.put("LD_PRELOAD", libraries.resolve("libcuda.so.1").toString());
        environment.put("TESSERA_RUNTIME_DIR", runtime.toString());
        environment.put("TESSERA_SHARE", "space");
        environment.put("TESSERA_REQUIRE", "1");
        environment.put("TESSERA_NAME", tenant);
        return environment;
    }
}

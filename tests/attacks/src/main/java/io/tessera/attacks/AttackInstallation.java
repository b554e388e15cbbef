package io.tessera.attacks;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Where everything is: a built source tree, or a kit.
 *
 * @param libraries the folder of our libcuda.so.1
 * @param programs  the folder of victim and attackers
 * @param kernels   the folder of attacking kernels
 * @param app       the folder of the jars of manager and executors
 */
record AttackInstallation(Path libraries, Path programs, Path kernels, Path app) {
    /** Finds out which of the two a folder is. */
    static AttackInstallation of(Path home) {
        if (Files.exists(home.resolve("native-preload/pom.xml"))) {
            Path attacks = home.resolve("tests/attacks");
            return new AttackInstallation(home.resolve("native-preload/target/lib"), attacks.resolve("target/programs"),
                    attacks.resolve("kernels"), home.resolve("tools/cli/target/app"));
        }
        Path attacks = home.resolve("attacks");
        return new AttackInstallation(home.resolve("lib"), attacks.resolve("programs"), attacks.resolve("kernels"), home.resolve("app"));
    }

    /** What is missing; empty: nothing. */
    List<Path> missing() {
        List<Path> missing = new ArrayList<>(List.of(libraries.resolve("libcuda.so.1"), programs.resolve("victim"), kernels, app));
        missing.removeIf(Files::exists);
        return missing;
    }

    /** The environment of a tenant's program. */
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

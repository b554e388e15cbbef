package io.tessera.jvm;

import java.nio.file.Files;
import java.nio.file.Path;

/** Where the build left what is under test. Fails with the name of what is missing. */
final class Outputs {
    private static final Path ROOT =
            Path.of(System.getProperty("tessera.root", "../..")).toAbsolutePath().normalize();

    private Outputs() {
    }

    static Path tessera() {
        return existing(ROOT.resolve("tools/tessera"));
    }

    /** The agent as it is installed: beside the folder of the application's jars. */
    static Path agent() {
        return existing(ROOT.resolve("tools/cli/target/agent/tessera-agent.jar"));
    }

    static Path scriptedDriver() {
        return existing(ROOT.resolve("tests/scripted-driver/target/lib/libcuda-scripted.so.1"));
    }

    /** A manager that refuses everybody as one of another version does. */
    static Path alienManager() {
        return existing(ROOT.resolve("tests/jvm/target/fixtures/fake_manager"));
    }

    /** Folder of the bindings' jars. */
    static Path bindings() {
        return existing(ROOT.resolve("tests/jvm/target/app"));
    }

    /** The samples and the bindings, for a JVM of any version. */
    static String samples() {
        return existing(ROOT.resolve("tests/jvm/target/classes")) + ":" + bindings() + "/*";
    }

    /** The folder of the jars of manager, executors and commands, as they are installed. */
    static Path app() {
        return existing(ROOT.resolve("tools/cli/target/app"));
    }

    private static Path existing(Path path) {
        if (!Files.exists(path)) {
            throw new IllegalStateException(path + " is missing: build the tree first (tools/build --all)");
        }
        return path;
    }
}

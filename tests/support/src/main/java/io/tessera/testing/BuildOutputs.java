package io.tessera.testing;

import java.nio.file.Files;
import java.nio.file.Path;

/** Where the build left what is under test. Fails with the name of what is missing. */
public final class BuildOutputs {
    private static final Path ROOT = Path.of(System.getProperty("tessera.root", "../..")).toAbsolutePath().normalize();

    private BuildOutputs() {
    }

    /** The source tree. */
    public static Path root() {
        return ROOT;
    }

    /** The folder of libcuda.so.1, libcuda.so and libnvidia-ml.so.1, ours. */
    public static Path nativeFolder() {
        return existing(ROOT.resolve("native-preload/target/lib"));
    }

    /** Our libcuda.so.1. */
    public static Path preload() {
        return existing(nativeFolder().resolve("libcuda.so.1"));
    }

    /** Our libcuda.so.1, built with sanitizers (tests/run). */
    public static Path sanitizedPreload() {
        return existing(Path.of(System.getProperty("tessera.sanitized")));
    }

    /** The sanitizers' own libraries, separated by colons. */
    public static String sanitizers() {
        return System.getProperty("tessera.sanitizers");
    }

    /** Our libnvidia-ml.so.1. */
    public static Path nvml() {
        return existing(nativeFolder().resolve("libnvidia-ml.so.1"));
    }

    /** The scripted driver. */
    public static Path scriptedDriver() {
        return existing(ROOT.resolve("tests/scripted-driver/target/lib/libcuda-scripted.so.1"));
    }

    /** Which versions of entries the scripted driver hands out. */
    public static Path lookupVersions() {
        return existing(ROOT.resolve("tests/scripted-driver/entries/lookup.versions"));
    }

    /** A program of tests/system/src/test/c. */
    public static Path fixture(String name) {
        return existing(ROOT.resolve("tests/system/target/fixtures").resolve(name));
    }

    /** The folder of the jars of manager, executors and commands, as they are installed. */
    public static Path app() {
        return existing(ROOT.resolve("tools/cli/target/app"));
    }

    /** The java command of this JVM. */
    public static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    /** The command {@code tessera}. */
    public static Path tessera() {
        return existing(ROOT.resolve("tools/tessera"));
    }

    /** The agent as it is installed: beside the folder of the application's jars. */
    public static Path agent() {
        return existing(ROOT.resolve("tools/cli/target/agent/tessera-agent.jar"));
    }

    /** A manager that refuses everybody as one of another version does. */
    public static Path alienManager() {
        return existing(ROOT.resolve("tests/jvm/target/fixtures/fake_manager"));
    }

    /** Folder of the jars of the Java bindings that samples use. */
    public static Path bindings() {
        return existing(ROOT.resolve("tests/jvm/target/app"));
    }

    /** The class path of samples and bindings, for a JVM of any version. */
    public static String samples() {
        return existing(ROOT.resolve("tests/jvm/target/classes")) + ":" + bindings() + "/*";
    }

    private static Path existing(Path path) {
        if (!Files.exists(path)) {
            throw new IllegalStateException(path + " is missing: build the tree first (tools/build --all)");
        }
        return path;
    }
}

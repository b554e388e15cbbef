package io.tessera.testing;

import java.nio.file.Files;
import java.nio.file.Path;

/** Locations of the build's outputs that are under test. A missing file is an error that names it. */
public final class BuildOutputs {
    private static final Path ROOT = Path.of(System.getProperty("tessera.root", "../..")).toAbsolutePath().normalize();

    private BuildOutputs() {
    }

    /** Returns the root of the source tree. */
    public static Path root() {
        return ROOT;
    }

    /** Returns the folder of Tessera's libcuda.so.1, libcuda.so and libnvidia-ml.so.1. */
    public static Path nativeFolder() {
        return existing(ROOT.resolve("native-preload/target/lib"));
    }

    /** Returns Tessera's libcuda.so.1. */
    public static Path preload() {
        return existing(nativeFolder().resolve("libcuda.so.1"));
    }

    /** Returns Tessera's libcuda.so.1, built with sanitizers (tests/run). */
    public static Path sanitizedPreload() {
        return existing(Path.of(System.getProperty("tessera.sanitized")));
    }

    /** Returns the sanitizers' own libraries, separated by colons. */
    public static String sanitizers() {
        return System.getProperty("tessera.sanitizers");
    }

    /** Returns Tessera's libnvidia-ml.so.1. */
    public static Path nvml() {
        return existing(nativeFolder().resolve("libnvidia-ml.so.1"));
    }

    /** Returns the scripted driver. */
    public static Path scriptedDriver() {
        return existing(ROOT.resolve("tests/scripted-driver/target/lib/libcuda-scripted.so.1"));
    }

    /** Returns the file with the versions of entries that the scripted driver provides. */
    public static Path lookupVersions() {
        return existing(ROOT.resolve("tests/scripted-driver/entries/lookup.versions"));
    }

    /** Returns a program of tests/system/src/test/c. */
    public static Path fixture(String name) {
        return existing(ROOT.resolve("tests/system/target/fixtures").resolve(name));
    }

    /** Returns the folder of the installed jars of manager, executors and commands. */
    public static Path app() {
        return existing(ROOT.resolve("tools/cli/target/app"));
    }

    /** Returns the java command of this JVM. */
    public static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    /** Returns the command {@code tessera}. */
    public static Path tessera() {
        return existing(ROOT.resolve("tools/tessera"));
    }

    /** Returns the installed agent, beside the folder of the application's jars. */
    public static Path agent() {
        return existing(ROOT.resolve("tools/cli/target/agent/tessera-agent.jar"));
    }

    /** Returns a manager that refuses every client, as one of another version does. */
    public static Path alienManager() {
        return existing(ROOT.resolve("tests/jvm/target/fixtures/fake_manager"));
    }

    /** Returns the folder of the jars of the Java bindings that samples use. */
    public static Path bindings() {
        return existing(ROOT.resolve("tests/jvm/target/app"));
    }

    /** Returns the class path of samples and bindings, for a JVM of any version. */
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

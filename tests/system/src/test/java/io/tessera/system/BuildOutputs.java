package io.tessera.system;

import java.nio.file.Files;
import java.nio.file.Path;

/** Where the build left what is under test. Fails with the name of what is missing. */
final class BuildOutputs {
    private static final Path ROOT =
            Path.of(System.getProperty("tessera.root", "../..")).toAbsolutePath().normalize();

    private BuildOutputs() {
    }

    static Path root() {
        return ROOT;
    }

    /** The folder of libcuda.so.1, libcuda.so and libnvidia-ml.so.1, ours. */
    static Path nativeFolder() {
        return existing(ROOT.resolve("native-preload/target/lib"));
    }

    static Path preload() {
        return existing(nativeFolder().resolve("libcuda.so.1"));
    }

    static Path nvml() {
        return existing(nativeFolder().resolve("libnvidia-ml.so.1"));
    }

    static Path scriptedDriver() {
        return existing(ROOT.resolve("tests/scripted-driver/target/lib/libcuda-scripted.so.1"));
    }

    static Path lookupVersions() {
        return existing(ROOT.resolve("tests/scripted-driver/entries/lookup.versions"));
    }

    /** A program of src/test/c. */
    static Path fixture(String name) {
        return existing(ROOT.resolve("tests/system/target/fixtures").resolve(name));
    }

    /** The folder of the jars of manager, executors and commands, as they are installed. */
    static Path app() {
        return existing(ROOT.resolve("tools/cli/target/app"));
    }

    static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    private static Path existing(Path path) {
        if (!Files.exists(path)) {
            throw new IllegalStateException(path + " is missing: build native-preload, tests/scripted-driver and "
                    + "tests/system first");
        }
        return path;
    }
}

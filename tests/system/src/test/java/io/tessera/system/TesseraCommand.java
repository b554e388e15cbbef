package io.tessera.system;

import io.tessera.testing.BuildOutputs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** tools/tessera as a user starts it, from a kit made of the build's results. */
public final class TesseraCommand {
    private TesseraCommand() {
    }

    /** Returns a launch of the script with the run's directories. As for a user, the environment names only locations. */
    public static ProgramLaunch tessera(TestRun run, String... arguments) {
        return asUser(run, Stream.concat(Stream.of(BuildOutputs.root().resolve("tools/tessera").toString()),
                Stream.of(arguments)).toArray(String[]::new));
    }

    /** Returns a launch of any command that finds the kit as tools/tessera does. */
    public static ProgramLaunch asUser(TestRun run, String... command) {
        return run.command(command).without("LD_PRELOAD").without("LD_LIBRARY_PATH")
                .env("TESSERA_HOME", kit(run).toString()).env("JAVA_HOME", System.getProperty("java.home"))
                .env("TESSERA_SHM_DIR", run.segmentDirectory().toString());
    }

    private static Path kit(TestRun run) {
        Path kit = run.directory().resolve("kit");
        if (Files.exists(kit)) {
            return kit;
        }
        try {
            Files.createDirectory(kit);
            Files.createSymbolicLink(kit.resolve("app"), BuildOutputs.app());
            Files.createSymbolicLink(kit.resolve("lib"), BuildOutputs.nativeFolder());
            Files.createSymbolicLink(kit.resolve("bin"), BuildOutputs.root().resolve("native-preload/target/bin"));
        } catch (IOException e) {
            throw new AssertionError("the kit cannot be made", e);
        }
        return kit;
    }
}

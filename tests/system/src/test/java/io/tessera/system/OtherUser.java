package io.tessera.system;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.tessera.testing.BuildOutputs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * Programs and commands of a user who is neither root nor an administrator. They run from a kit of their own in the run's directory,
 * because only root may be able to read the source tree. One thread.
 */
public final class OtherUser {
    /** The number of a user without an account; no name is needed. */
    public static final int UID = 12_345;
    private static final Duration BOUND = Duration.ofSeconds(60);
    private static final String SETPRIV = "/usr/bin/setpriv";

    private final TestRun run;
    private final Path kit;

    private OtherUser(TestRun run, Path kit) {
        this.run = run;
        this.kit = kit;
    }

    /** Makes the kit; skips the test if this process cannot start programs of another user, or that user could not run Java. */
    public static OtherUser of(TestRun run) throws IOException {
        assumeTrue(Files.getAttribute(run.directory(), "unix:uid").equals(0), "skipped: only root can run programs as another user");
        assumeTrue(Files.isExecutable(Path.of(SETPRIV)), "skipped: there is no " + SETPRIV + " (util-linux)");
        for (Path folder : List.of(run.directory(), run.sharedMemory())) {
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        Path kit = Files.createDirectory(run.directory().resolve("kit"));
        OtherUser account = new OtherUser(run, kit);
        copy(BuildOutputs.app(), kit.resolve("app"));
        copy(BuildOutputs.nativeFolder(), kit.resolve("lib"));
        copy(BuildOutputs.nativeFolder().resolveSibling("bin"), kit.resolve("bin"));
        copy(BuildOutputs.fixture("console").getParent(), kit.resolve("fixtures"));
        for (String script : List.of("tessera", "help.sh", "manager.sh", "launch.sh", "find-java.sh", "start-java.sh")) {
            Files.copy(BuildOutputs.root().resolve("tools").resolve(script), kit.resolve(script));
        }
        open(kit);
        assumeTrue(account.command(BuildOutputs.java(), "-version").start().end(BOUND).exit() == 0,
                "skipped: another user cannot run " + BuildOutputs.java());
        return account;
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> paths = Files.walk(from)) {
            for (Path path : paths.toList()) {
                Files.copy(path, to.resolve(from.relativize(path).toString()));
            }
        }
    }

    private static void open(Path tree) throws IOException {
        try (Stream<Path> paths = Files.walk(tree)) {
            for (Path path : paths.filter(path -> !Files.isSymbolicLink(path)).toList()) {
                Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(Files.isExecutable(path) ? "rwxr-xr-x" : "rw-r--r--"));
            }
        }
    }

    /** Returns a folder of the account that no other user can write. */
    public Path folder(String name) throws IOException {
        Path folder = Files.createDirectory(run.directory().resolve(name));
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        Files.setAttribute(folder, "unix:uid", UID);
        Files.setAttribute(folder, "unix:gid", UID);
        return folder;
    }

    /** Returns a command that runs without Tessera's library. */
    public ProgramLaunch command(String... command) {
        String[] whole = Stream.concat(Stream.of(SETPRIV, "--reuid=" + UID, "--regid=" + UID, "--clear-groups"), Stream.of(command))
                .toArray(String[]::new);
        return run.command(whole).without("LD_PRELOAD").without("LD_LIBRARY_PATH").without("TESSERA_DRIVER")
                .without("TESSERA_SCRIPT_WITNESS").env("HOME", "/nonexistent");
    }

    /** A program of src/test/c that shares by space. */
    public ProgramLaunch program(String tenant, String fixture, String... arguments) {
        return command(Stream.concat(Stream.of(kit.resolve("fixtures").resolve(fixture).toString()), Stream.of(arguments))
                .toArray(String[]::new)).env("LD_PRELOAD", kit.resolve("lib/libcuda.so.1").toString())
                .env("LD_LIBRARY_PATH", kit.resolve("lib").toString()).env("TESSERA_SHARE", "space").tenant(tenant);
    }

    /** {@code tessera} of the kit. */
    public ProgramLaunch tessera(String... arguments) {
        return command(Stream.concat(Stream.of(kit.resolve("tessera").toString()), Stream.of(arguments)).toArray(String[]::new))
                .env("JAVA_HOME", System.getProperty("java.home")).env("TESSERA_SHM_DIR", run.segmentDirectory().toString());
    }

    /** Whether it can read a file, or list a folder. */
    public boolean canRead(Path path) {
        return command("test", "-r", path.toString()).start().end(BOUND).exit() == 0;
    }

    /** Whether it can write a file, make one in a folder, or connect to a socket. */
    public boolean canWrite(Path path) {
        return command("test", "-w", path.toString()).start().end(BOUND).exit() == 0;
    }
}

package io.tessera.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.tessera.testing.BuildOutputs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Whatever is wrong with the agent or around it, a program writes what it writes without the agent, and there is one line
 * more on stderr. The program works on the scripted driver, which stands where the vendor's is.
 */
@Timeout(600)
class BrokenTest {
    /** Makes every folder that the agent may unpack to read-only, in a file system view of the process's own. */
    private static final String READ_ONLY = """
            mount -o remount,bind,ro / || exit 96
            for folder in /tmp /var/tmp /dev/shm /run "$HOME"; do
                [ ! -d "$folder" ] || { mount --bind "$folder" "$folder" && mount -o remount,bind,ro "$folder"; } || exit 96
            done
            cd "$PWD" && exec "$@"
            """;
    private static final int NOT_PERMITTED = 96;

    private static World world;

    @BeforeAll
    static void start() {
        world = new World();
    }

    @AfterAll
    static void end() {
        world.close();
    }

    /** Something that is wrong, and how the line about it begins. */
    enum Fault {
        BIT_FLIPPED("tessera-agent: the application keeps the vendor's driver: "), SUMS_MISSING(
                "tessera-agent: the application keeps the vendor's driver: "), FOREIGN_PROCESSOR(
                        "tessera-agent: the application keeps the vendor's driver: "), TOOLING_MISSING(
                                "tessera-agent: not started, the application runs without it: "), BOOTSTRAP_MISSING(
                                        "tessera-agent: not started, the application runs without it: "), LIBRARIES_MISSING(
                                                "tessera-agent: "), UNKNOWN_OPTION("tessera-agent: ignored: unknown option "), NO_MANAGER(
                                                        "tessera: no manager "), ALIEN_MANAGER("tessera: ");

        private final String line;

        Fault(String line) {
            this.line = line;
        }

        private Path jar() {
            return switch (this) {
                case BIT_FLIPPED -> DamagedJar.bitFlipped(world.directory());
                case SUMS_MISSING -> DamagedJar.without(world.directory(), "native/SHA256SUMS");
                case FOREIGN_PROCESSOR -> DamagedJar.foreign(world.directory());
                case TOOLING_MISSING -> DamagedJar.without(world.directory(), "inst/io/tessera/");
                case BOOTSTRAP_MISSING -> DamagedJar.without(world.directory(), "boot/");
                case LIBRARIES_MISSING -> DamagedJar.without(world.directory(), "inst/libraries.pack");
                case UNKNOWN_OPTION, NO_MANAGER, ALIEN_MANAGER -> BuildOutputs.agent();
            };
        }

        /** A fault of the jar has no driver of ours, so nobody looks for a manager; the others are distinguished. */
        private String options() {
            return switch (this) {
                case UNKNOWN_OPTION -> "=driver=no,colour=blue";
                case LIBRARIES_MISSING -> "=driver=no";
                default -> "";
            };
        }
    }

    /** A sample that needs no kernel, on the scripted driver. */
    private static JvmProgram program(Jvm jvm, List<String> before, List<String> options) {
        List<String> command = new ArrayList<>(before);
        command.addAll(jvm.command());
        command.addAll(options);
        command.addAll(List.of("-cp", BuildOutputs.samples(), Sample.ASYNC_COPIES.type()));
        return world.start(command, world.scripted());
    }

    private static ProcessResult natively(Jvm jvm) {
        return program(jvm, List.of(), world.unpacking()).end();
    }

    private static void sameButForOneLine(ProcessResult plain, ProcessResult ended, String line) {
        assertEquals(0, plain.exit(), plain::toString);
        assertEquals(List.of(), plain.ownLines(), plain::toString);
        assertEquals(plain.exit(), ended.exit(), ended::toString);
        assertEquals(plain.output(), ended.output(), ended::toString);
        assertEquals(plain.otherErrors(), ended.otherErrors(), ended::toString);
        assertEquals(1, ended.ownLines().size(), ended::toString);
        assertTrue(ended.ownLines().getFirst().startsWith(line), ended::toString);
    }

    @ParameterizedTest
    @EnumSource
    void theProgramRunsAsWithoutTheAgent(Fault fault) throws IOException {
        Jvm jvm = Jvm.found().get(fault.ordinal() % Jvm.found().size());
        List<String> options = new ArrayList<>(world.unpacking());
        options.add("-javaagent:" + fault.jar() + fault.options());
        ProcessResult plain = natively(jvm);
        if (fault == Fault.ALIEN_MANAGER) {
            Files.createDirectories(world.runtimeDirectory());
            try (JvmProgram manager = world.start(List.of(BuildOutputs.alienManager().toString(),
                    world.runtimeDirectory().toString(), "refuse"), Map.of())) {
                manager.awaitLine("listening");
                ProcessResult ended = program(jvm, List.of(), options).end();
                sameButForOneLine(plain, ended, fault.line);
                assertTrue(ended.ownLines().getFirst().contains("this manager is older than you"), ended::toString);
            } finally {
                Files.delete(world.runtimeDirectory().resolve("manager.sock"));
            }
        } else {
            sameButForOneLine(plain, program(jvm, List.of(), options).end(), fault.line);
        }
    }

    /** The JVM itself refuses a file that is no jar, before anything of ours runs. */
    @Test
    void aFileThatIsNoJarIsRefusedByTheJvm() throws IOException {
        Path half = Files.write(world.directory().resolve("half.jar"),
                Arrays.copyOf(Files.readAllBytes(BuildOutputs.agent()), 10_000));
        ProcessResult ended = program(Jvm.newest(), List.of(), List.of("-javaagent:" + half)).end();
        assertEquals(1, ended.exit(), ended::toString);
        assertEquals(List.of(), ended.ownLines(), ended::toString);
        assertTrue(ended.errors().stream().anyMatch(line -> line.contains(half.toString())), ended::toString);
    }

    /** As in a container without a writable folder; the bindings' own libraries are in the image then. */
    @Test
    void aReadOnlyRootLeavesTheProgramAlone() throws IOException, InterruptedException {
        Process probe = new ProcessBuilder("unshare", "-m", "true").start();
        assumeTrue(probe.waitFor(20, TimeUnit.SECONDS) && probe.exitValue() == 0, "skipped: unshare -m is not permitted");
        List<String> before = List.of("unshare", "-m", "--propagation", "private", "sh", "-c", READ_ONLY, "sh");
        List<String> options = new ArrayList<>(List.of("-Djava.library.path=" + natives()));
        ProcessResult plain = program(Jvm.newest(), before, options).end();
        assumeTrue(plain.exit() != NOT_PERMITTED, "skipped: mounting is not permitted");
        options.add("-javaagent:" + BuildOutputs.agent());
        ProcessResult ended = program(Jvm.newest(), before, options).end();
        sameButForOneLine(plain, ended, "tessera-agent: the application keeps the vendor's driver: no folder to unpack");
        // With one folder that can be written the agent does its work again: what is missing then is a manager.
        options.set(1, options.get(1) + "=folder=" + Files.createDirectories(world.directory().resolve("writable")));
        String writable = READ_ONLY.replace("cd \"$PWD\"", "mount -t tmpfs none '" + world.directory()
                + "/writable' && cd \"$PWD\"");
        List<String> with = new ArrayList<>(before);
        with.set(before.indexOf(READ_ONLY), writable);
        sameButForOneLine(plain, program(Jvm.newest(), with, options).end(), "tessera: no manager ");
    }

    /** Folder with JCuda's library unpacked. */
    private static Path natives() throws IOException {
        Path folder = Files.createDirectories(world.directory().resolve("natives"));
        try (var jars = Files.newDirectoryStream(BuildOutputs.bindings(), "jcuda-natives-*.jar")) {
            for (Path file : jars) {
                try (JarFile jar = new JarFile(file.toFile())) {
                    for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
                        if (entry.getName().contains("JCudaDriver")) {
                            Files.write(folder.resolve(Path.of(entry.getName()).getFileName()),
                                    jar.getInputStream(entry).readAllBytes());
                        }
                    }
                }
            }
        }
        return folder;
    }
}

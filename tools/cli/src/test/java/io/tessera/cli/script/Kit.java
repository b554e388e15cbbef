package io.tessera.cli.script;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A kit in a temporary folder: the real scripts, empty libraries that the loader accepts, and a {@code java} that writes
 * down how it was called and then is the {@link FakeManager}. Ends what it started when it is closed.
 */
final class Kit implements AutoCloseable {
    /** Longest that anything a test starts may take. */
    static final long PATIENCE_S = 60;

    private static final List<String> SCRIPTS = List.of("tessera", "run.sh", "place.sh", "manager.sh", "launch.sh", "find-java.sh", "start-java.sh",
            "help.sh");

    final Path home;
    final Path runtime;
    final Path scripts;
    /** Environment of the scripts; nothing of the test's own but PATH and HOME. */
    final Map<String, String> environment = new HashMap<>();
    private final List<Process> started = new ArrayList<>();
    private ServerSocketChannel socket;

    /** What a script ended with and said. */
    record Result(int code, String out, String err) {
    }

    Kit(Path folder) throws IOException, InterruptedException {
        home = folder.resolve("kit");
        runtime = folder.resolve("run");
        scripts = home.resolve("bin");
        Files.createDirectories(scripts);
        Files.createDirectory(runtime, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        for (String name : SCRIPTS) {
            Files.copy(Path.of(System.getProperty("tessera.scripts"), name), scripts.resolve(name));
        }
        Files.createDirectories(home.resolve("app"));
        Files.createFile(home.resolve("app/tessera.jar"));
        Files.createDirectories(home.resolve("lib"));
        library(home.resolve("lib/libcuda.so.1"));
        Files.copy(home.resolve("lib/libcuda.so.1"), home.resolve("lib/libnvidia-ml.so.1"));
        java(home.resolve("jre"), "25.0.1", fakeManager());
        environment.put("PATH", "/usr/bin:/bin");
        environment.put("HOME", folder.toString());
        environment.put("TESSERA_RUNTIME_DIR", runtime.toString());
        environment.put("TESSERA_DRIVER", home.resolve("lib/libcuda.so.1").toString());
    }

    /** What {@code java} does to become a manager, in the shell's words. */
    static String fakeManager() {
        return """
                while [ $# -gt 0 ] && [ "$1" != io.tessera.manager.ManagerMain ]; do shift; done
                [ $# -eq 0 ] || shift
                exec "%s/bin/java" -XX:TieredStopAtLevel=1 -cp "%s" io.tessera.cli.script.FakeManager "$@"
                """.formatted(System.getProperty("java.home"), classes());
    }

    private static String classes() {
        return Path.of(FakeManager.class.getProtectionDomain().getCodeSource().getLocation().getPath()).toString();
    }

    /** Makes a shared library without content, with the compiler that building Tessera needs anyway. */
    void library(Path file) throws IOException, InterruptedException {
        Process compiler = new ProcessBuilder("cc", "-shared", "-o", file.toString(), "-x", "c", "/dev/null")
                .inheritIO().start();
        assertTrue(compiler.waitFor(PATIENCE_S, TimeUnit.SECONDS) && compiler.exitValue() == 0, "cc");
    }

    /** Makes a Java home whose {@code java} writes its arguments, one a line, to {@code java.log} and goes on as told. */
    void java(Path javaHome, String version, String body) throws IOException {
        Files.createDirectories(javaHome.resolve("bin"));
        Files.writeString(javaHome.resolve("release"), "IMPLEMENTOR=\"Nobody\"\nJAVA_VERSION=\"" + version + "\"\n");
        Path java = javaHome.resolve("bin/java");
        Files.writeString(java, "#!/bin/sh\n{ echo \"-- SR=${_JAVA_SR_SIGNUM:-} PRELOAD=${LD_PRELOAD:-}\"; "
                + "printf '%s\\n' \"$@\"; } >>\"" + log() + "\"\n" + body);
        Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    Path log() {
        return home.resolve("java.log");
    }

    /** How often Java was started. */
    long javaStarts() throws IOException {
        return Files.exists(log()) ? Files.readAllLines(log()).stream().filter(l -> l.startsWith("-- ")).count() : 0;
    }

    /** Makes it look as if a manager ran, at no cost: a socket, and a process with a fitting name that has its pid file open. */
    void pretendManager() throws IOException {
        Path file = Files.createFile(runtime.resolve("manager.pid"));
        pretendManager(start(sleeper().redirectInput(file.toFile())).pid());
    }

    /** A process whose command line names Tessera. */
    ProcessBuilder sleeper() throws IOException {
        Path sleeper = home.resolve("tessera-sleeper");
        Files.createSymbolicLink(sleeper, Path.of("/bin/sleep"));
        return new ProcessBuilder(sleeper.toString(), "60");
    }

    void pretendManager(long pid) throws IOException {
        socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        socket.bind(UnixDomainSocketAddress.of(runtime.resolve("manager.sock")));
        Files.writeString(runtime.resolve("manager.pid"), pid + "\n");
    }

    /** Runs {@code tessera} to its end. */
    Result tessera(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(scripts.resolve("tessera").toString()));
        command.addAll(List.of(arguments));
        return run(command);
    }

    Result run(List<String> command) throws IOException, InterruptedException {
        Path out = Files.createTempFile(home, "out", "");
        Path err = Files.createTempFile(home, "err", "");
        Process process = start(builder(command).redirectOutput(out.toFile()).redirectError(err.toFile()));
        assertTrue(process.waitFor(PATIENCE_S, TimeUnit.SECONDS), "still runs: " + command);
        return new Result(process.exitValue(), Files.readString(out, StandardCharsets.UTF_8),
                Files.readString(err, StandardCharsets.UTF_8));
    }

    /** A process with the kit's environment. */
    ProcessBuilder builder(List<String> command) {
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().clear();
        builder.environment().putAll(environment);
        return builder;
    }

    Process start(ProcessBuilder builder) throws IOException {
        Process process = builder.start();
        started.add(process);
        return process;
    }

    /** The pid in the runtime directory. */
    long managerPid() throws IOException {
        return Long.parseLong(Files.readString(runtime.resolve("manager.pid")).strip());
    }

    @Override
    public void close() throws IOException {
        if (socket != null) {
            socket.close();
        } else if (Files.exists(runtime.resolve("manager.pid"))) {
            // By SIGTERM: for one that is killed its watcher starts another.
            ProcessHandle.of(managerPid()).filter(p -> p.info().command().orElse("").contains("java")).ifPresent(ProcessHandle::destroy);
        }
        started.forEach(Process::destroyForcibly);
    }
}

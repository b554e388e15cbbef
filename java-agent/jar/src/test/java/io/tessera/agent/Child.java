package io.tessera.agent;

import io.tessera.Tessera;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A fresh JVM with or without the agent; bounded in time. */
final class Child {
    static final Path AGENT = Path.of(System.getProperty("tessera.agent.jar", "target/agent/tessera-agent.jar"))
            .toAbsolutePath();
    static final Path CLASSES = Path.of(System.getProperty("tessera.fixtures", "target/test-classes")).toAbsolutePath();
    private static final long SECONDS = 90;
    private static final String FIXTURE = "io.tessera.agent.fixture.";

    private final String home;
    private final List<String> before = new ArrayList<>();
    private final List<String> flags = new ArrayList<>();
    private final List<String> path = new ArrayList<>(List.of(CLASSES.toString(), facade()));

    private Child(String home) {
        this.home = home;
        flags.addAll(List.of("-XX:+UseSerialGC", "-Xmx256m", "-XX:TieredStopAtLevel=1"));
    }

    /** On the JVM that runs the tests. */
    static Child here() {
        return new Child(System.getProperty("java.home"));
    }

    static Child on(Path home) {
        return new Child(home.toString());
    }

    /**
     * Every JVM of this machine, the tests' own first, one of each release. TESSERA_JVM_FOLDERS names the folders to
     * look in, separated by colons.
     */
    static List<Path> jvms() throws IOException {
        List<Path> homes = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"))));
        List<String> seen = new ArrayList<>(List.of("" + Runtime.version().feature()));
        for (String folder : System.getenv().getOrDefault("TESSERA_JVM_FOLDERS", "/usr/lib/jvm").split(":")) {
            if (Files.isDirectory(Path.of(folder))) {
                try (var entries = Files.list(Path.of(folder))) {
                    for (Path home : (Iterable<Path>) entries.sorted()::iterator) {
                        String release = release(home);
                        if (release.matches("\\d+") && Integer.parseInt(release) >= 11 && !seen.contains(release)) {
                            seen.add(release);
                            homes.add(home);
                        }
                    }
                }
            }
        }
        return homes;
    }

    /** The release of the JVM in a folder; empty: there is none. */
    private static String release(Path home) throws IOException {
        Path release = home.resolve("release");
        return Files.isReadable(release) && Files.isExecutable(home.resolve("bin/java"))
                ? Files.readString(release).replaceAll("(?s).*JAVA_VERSION=\"(\\d+).*", "$1") : "";
    }

    /** The facade alone, as an application would carry it. */
    private static String facade() {
        try (InputStream in = Tessera.class.getResourceAsStream("Tessera.class")) {
            Path folder = CLASSES.resolveSibling("facade");
            Path file = folder.resolve("io/tessera/Tessera.class");
            Files.createDirectories(file.getParent());
            Files.write(file, in.readAllBytes());
            return folder.toString();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    Child flag(String... more) {
        flags.addAll(List.of(more));
        return this;
    }

    /** A command that ends by running the rest of its arguments. */
    Child under(List<String> command) {
        before.addAll(command);
        return this;
    }

    Child withAgent(String options) {
        return withAgent(AGENT, options);
    }

    Child withAgent(Path jar, String options) {
        return flag("-javaagent:" + jar + (options.isEmpty() ? "" : "=" + options));
    }

    Child classPath(String... more) {
        path.addAll(List.of(more));
        return this;
    }

    ProcessBuilder builder(String program) {
        List<String> command = new ArrayList<>(before);
        command.add(home + "/bin/java");
        command.addAll(flags);
        command.addAll(List.of("-cp", String.join(File.pathSeparator, path), FIXTURE + "FixtureProgram", program));
        return scrubbed(new ProcessBuilder(command));
    }

    /** Without what this machine's user may have set for other JVMs. */
    private static ProcessBuilder scrubbed(ProcessBuilder builder) {
        builder.environment().keySet().removeIf(name -> name.startsWith("TESSERA_") || name.startsWith("JAVA_TOOL")
                || name.startsWith("JDK_JAVA") || name.equals("LD_PRELOAD"));
        return builder;
    }

    /** Runs a program of the fixture to its end. */
    Outcome run(String program) throws IOException, InterruptedException {
        return run(builder(program));
    }

    /** Runs other arguments behind the flags. */
    Outcome runWith(List<String> arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(home + "/bin/java"));
        command.addAll(flags);
        command.addAll(arguments);
        return run(scrubbed(new ProcessBuilder(command)));
    }

    private static Outcome run(ProcessBuilder builder) throws IOException, InterruptedException {
        Process process = builder.start();
        process.getOutputStream().close();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        Thread reader = new Thread(() -> {
            try {
                process.getErrorStream().transferTo(err);
            } catch (IOException closed) {
                err.writeBytes(("reading failed: " + closed).getBytes(StandardCharsets.UTF_8));
            }
        });
        Thread watchdog = new Thread(() -> {
            try {
                if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                }
            } catch (InterruptedException done) {
                process.destroyForcibly();
            }
        });
        watchdog.setDaemon(true);
        reader.start();
        watchdog.start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int code = process.waitFor();
        reader.join();
        return new Outcome(code, out, err.toString(StandardCharsets.UTF_8));
    }

    /** What a child left. */
    static final class Outcome {
        final int code;
        final String out;
        final String err;

        Outcome(int code, String out, String err) {
            this.code = code;
            this.out = out;
            this.err = err;
        }

        @Override
        public String toString() {
            return "exit " + code + "\n--- stdout\n" + out + "--- stderr\n" + err;
        }
    }
}

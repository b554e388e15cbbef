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

    /** Every JVM of this machine, the tests' own first, one of each release. */
    static List<Path> jvms() throws IOException {
        List<Path> homes = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"))));
        List<String> seen = new ArrayList<>(List.of("" + Runtime.version().feature()));
        Path folder = Path.of("/usr/lib/jvm");
        if (Files.isDirectory(folder)) {
            try (var entries = Files.list(folder)) {
                for (Path home : (Iterable<Path>) entries.sorted()::iterator) {
                    Path release = home.resolve("release");
                    if (Files.isReadable(release) && Files.isExecutable(home.resolve("bin/java"))) {
                        String text = Files.readString(release).replaceAll("(?s).*JAVA_VERSION=\"(\\d+).*", "$1");
                        if (text.matches("\\d+") && Integer.parseInt(text) >= 11 && !seen.contains(text)) {
                            seen.add(text);
                            homes.add(home);
                        }
                    }
                }
            }
        }
        return homes;
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
        List<String> command = new ArrayList<>(List.of(home + "/bin/java"));
        command.addAll(flags);
        command.addAll(List.of("-cp", String.join(File.pathSeparator, path), FIXTURE + "Program", program));
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

package io.tessera.cli.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;

/** A JVM to look into, and the stand-in's jar. Ends with the test. */
final class TargetJvm implements AutoCloseable {
    private final Process process;

    private TargetJvm(Process process) {
        this.process = process;
    }

    /** Starts it with these options and waits until it runs. */
    static TargetJvm start(String... options) throws IOException {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "-XX:+UseSerialGC", "-Xmx64m", "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", classes().toString(), StandInAgent.Program.class.getName(), "argument"));
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
        byte[] ready = process.getInputStream().readNBytes(6);
        assertEquals("ready\n", new String(ready));
        return new TargetJvm(process);
    }

    private static Path classes() {
        return Path.of(StandInAgent.class.getProtectionDomain().getCodeSource().getLocation().getPath());
    }

    /** Writes the stand-in's jar under the real one's name into the folder. */
    static Path agentJar(Path folder) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", StandInAgent.class.getName());
        manifest.getMainAttributes().putValue("Agent-Class", StandInAgent.class.getName());
        Path jar = Files.createDirectories(folder).resolve(JvmProcess.AGENT_JAR);
        Path own = classes().resolve(StandInAgent.class.getPackageName().replace('.', '/'));
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest);
                Stream<Path> files = Files.list(own)) {
            for (Path file : files.filter(f -> f.getFileName().toString().startsWith("StandIn")).toList()) {
                out.putNextEntry(new JarEntry(classes().relativize(file).toString()));
                try (InputStream in = Files.newInputStream(file)) {
                    in.transferTo(out);
                }
                out.closeEntry();
            }
        }
        return jar;
    }

    String pid() {
        return Long.toString(process.pid());
    }

    Process process() {
        return process;
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly();
        try {
            assertTrue(process.waitFor(20, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }
}

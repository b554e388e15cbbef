package io.tessera.agent;

import io.tessera.agent.fixture.SlowBeanServer;
import io.tessera.agent.fixture.TracingAgent;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import jdk.jfr.consumer.RecordingFile;

/** Files that the tests need. */
final class Fixtures {
    private static final String CUDA = "io.tessera.agent.fixture.FakeCuda";

    private Fixtures() {
    }

    /** A user's table for the fixture's library. */
    static Path table(Path folder) throws IOException {
        Path file = folder.resolve("fake.table");
        Files.write(file, List.of(
                "library io.tessera.agent.fixture.Fake",
                "address io.tessera.agent.fixture.FakePointer address owner",
                "address io.tessera.agent.fixture.FakePointer$Broken value()",
                "derive io.tessera.agent.fixture.FakePointer withByteOffset",
                "alloc " + CUDA + " alloc address=0 bytes=1",
                "alloc " + CUDA + " allocPitch address=0 bytes=1*2",
                "alloc " + CUDA + " failingAlloc address=0 bytes=1",
                "alloc " + CUDA + " allocAddress address=return bytes=0",
                "free " + CUDA + " free address=0",
                "free " + CUDA + " failingFree address=0",
                "free " + CUDA + " freeAddress address=0",
                "name " + CUDA + " find kernel=0 name=2",
                "launch " + CUDA + " launch kernel=0",
                "launch " + CUDA + " library*",
                "launch io.tessera.agent.fixture.FakeNative launch",
                "copy " + CUDA + " copy bytes=2 direction=3"));
        return file;
    }

    /** A tracing agent's jar; its classes and ByteBuddy are on the application's class path. */
    static Path tracingAgent(Path folder) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", TracingAgent.class.getName());
        manifest.getMainAttributes().putValue("Can-Retransform-Classes", "true");
        Path jar = folder.resolve("tracing.jar");
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream out = new JarOutputStream(file, manifest)) {
            out.putNextEntry(new JarEntry("empty"));
            out.closeEntry();
        }
        return jar;
    }

    /** A folder with this class alone, for the bootstrap loader. */
    static Path slowBeanServer(Path folder) throws IOException {
        String file = SlowBeanServer.class.getName().replace('.', '/') + ".class";
        Path copy = folder.resolve("boot").resolve(file);
        Files.createDirectories(copy.getParent());
        Files.copy(Child.CLASSES.resolve(file), copy, StandardCopyOption.REPLACE_EXISTING);
        return folder.resolve("boot");
    }

    static String byteBuddy() throws URISyntaxException {
        return Path.of(net.bytebuddy.ByteBuddy.class.getProtectionDomain().getCodeSource().getLocation().toURI())
                .toString();
    }

    /** Flight Recorder settings with the agent's events alone. */
    static Path jfrSettings(Path folder) throws IOException {
        Path file = folder.resolve("tessera.jfc");
        StringBuilder text = new StringBuilder(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<configuration version=\"2.0\">\n");
        for (String event : List.of("Allocation", "Free", "LaunchSample", "TurnWait", "TurnLoss", "Eviction")) {
            text.append("<event name=\"tessera.").append(event)
                    .append("\"><setting name=\"enabled\">true</setting></event>\n");
        }
        Files.writeString(file, text.append("</configuration>\n"));
        return file;
    }

    /** Names of the events in a recording. */
    static List<String> events(Path recording) throws IOException {
        return RecordingFile.readAllEvents(recording).stream().map(e -> e.getEventType().getName()).distinct()
                .sorted().collect(Collectors.toList());
    }

    /** Bytes of an entry of the agent's jar. */
    static byte[] entry(String name) throws IOException {
        try (JarFile jar = new JarFile(Child.AGENT.toFile());
                InputStream in = jar.getInputStream(jar.getJarEntry(name))) {
            return in.readAllBytes();
        }
    }

    /** A folder that can be written to and nothing executed in; null: this machine has none. */
    static Path noexecFolder() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/mounts"))) {
            String[] words = line.split(" ");
            if (List.of(words[3].split(",")).contains("noexec") && List.of("tmpfs", "ext4", "xfs").contains(words[2])
                    && Files.isWritable(Path.of(words[1]))) {
                return Path.of(words[1]);
            }
        }
        return null;
    }

    /** A copy of the agent's jar with other entries; null removes one. */
    static Path changed(Path folder, Map<String, byte[]> changes) throws IOException {
        Path copy = Files.createTempFile(folder, "agent-", ".jar");
        try (JarFile jar = new JarFile(Child.AGENT.toFile());
                JarOutputStream out = new JarOutputStream(Files.newOutputStream(copy))) {
            for (JarEntry entry : jar.stream().collect(Collectors.toList())) {
                byte[] bytes;
                try (InputStream in = jar.getInputStream(entry)) {
                    bytes = in.readAllBytes();
                }
                if (changes.containsKey(entry.getName())) {
                    bytes = changes.get(entry.getName());
                }
                if (bytes != null) {
                    out.putNextEntry(new JarEntry(entry.getName()));
                    out.write(bytes);
                    out.closeEntry();
                }
            }
        }
        return copy;
    }
}

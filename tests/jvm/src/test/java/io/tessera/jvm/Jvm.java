package io.tessera.jvm;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A Java runtime of this machine.
 *
 * @param feature its version: 17
 * @param home    its folder
 */
record Jvm(int feature, Path home) {
    /** The versions that the agent serves. */
    static final List<Integer> SERVED = List.of(11, 17, 21, 25);

    private static final Pattern VERSION = Pattern.compile("JAVA_VERSION=\"(?:1\\.)?(\\d+).*");

    /** One runtime of each served version: JAVA_HOME, the JVM of this test, the usual folders, in this order. */
    static List<Jvm> found() {
        Map<Integer, Jvm> found = new TreeMap<>();
        for (Path home : homes()) {
            version(home).filter(SERVED::contains).ifPresent(v -> found.putIfAbsent(v, new Jvm(v, home)));
        }
        return List.copyOf(found.values());
    }

    /** Served versions that this machine lacks. */
    static List<Integer> absent() {
        List<Integer> absent = new ArrayList<>(SERVED);
        found().forEach(jvm -> absent.remove((Integer) jvm.feature()));
        return absent;
    }

    /** The newest. */
    static Jvm newest() {
        return found().getLast();
    }

    /** The {@code java} of this runtime with flags that keep a short program small, and quiet about its bindings. */
    List<String> command() {
        List<String> command = new ArrayList<>(List.of(home.resolve("bin/java").toString(), "-XX:+UseSerialGC",
                "-Xmx128m", "-XX:TieredStopAtLevel=1"));
        if (feature >= 17) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        return command;
    }

    private static List<Path> homes() {
        List<Path> homes = new ArrayList<>();
        Optional.ofNullable(System.getenv("JAVA_HOME")).filter(home -> !home.isEmpty()).map(Path::of)
                .ifPresent(homes::add);
        homes.add(Path.of(System.getProperty("java.home")));
        String folders = System.getenv().getOrDefault("TESSERA_JVM_FOLDERS", "/usr/lib/jvm:/usr/lib64/jvm:/opt:/opt/java"
                + ":/usr/java:/usr/local/java:" + System.getProperty("user.home") + "/.sdkman/candidates/java:"
                + System.getProperty("user.home") + "/.jdks");
        for (String folder : folders.split(":")) {
            if (!folder.isEmpty() && Files.isDirectory(Path.of(folder))) {
                try (Stream<Path> entries = Files.list(Path.of(folder))) {
                    entries.sorted().forEach(homes::add);
                } catch (IOException e) {
                    throw new UncheckedIOException(folder + " cannot be read", e);
                }
            }
        }
        return homes;
    }

    private static Optional<Integer> version(Path home) {
        Path release = home.resolve("release");
        if (!Files.isExecutable(home.resolve("bin/java")) || !Files.isReadable(release)) {
            return Optional.empty();
        }
        try {
            return Files.readAllLines(release).stream().map(VERSION::matcher).filter(Matcher::matches)
                    .map(matcher -> Integer.valueOf(matcher.group(1))).findFirst();
        } catch (IOException e) {
            throw new UncheckedIOException(release + " cannot be read", e);
        }
    }

    @Override
    public String toString() {
        return "Java " + feature;
    }
}

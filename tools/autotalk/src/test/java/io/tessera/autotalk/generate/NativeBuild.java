package io.tessera.autotalk.generate;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Runs the C compiler, and what it made, in a directory. A build of this project needs gcc, so its absence fails. */
final class NativeBuild {
    private static final int LIMIT_SECONDS = 120;
    /** Flags with which the preload library is compiled. */
    static final List<String> FLAGS = List.of("-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", "-fPIC",
            "-fvisibility=hidden", "-fcf-protection");

    private final Path directory;

    NativeBuild(Path directory) {
        this.directory = directory;
    }

    /** Puts files of this package's test resources into the directory. */
    NativeBuild withResources(String... names) throws IOException {
        for (String name : names) {
            try (InputStream in = NativeBuild.class.getResourceAsStream(name)) {
                Path file = directory.resolve(name);
                Files.createDirectories(file.getParent());
                Files.write(file, in.readAllBytes());
            }
        }
        return this;
    }

    NativeBuild withFiles(Map<String, String> files) throws IOException {
        for (Map.Entry<String, String> file : files.entrySet()) {
            Files.writeString(directory.resolve(file.getKey()), file.getValue());
        }
        return this;
    }

    void compile(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("gcc"));
        command.addAll(FLAGS);
        command.addAll(List.of(arguments));
        run(command);
    }

    /** Runs a command and returns what it printed; fails where it fails or does not end. */
    String run(List<String> command) throws IOException, InterruptedException {
        Path output = Files.createTempFile(directory, "output", ".txt");
        Process process = new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true)
                .redirectOutput(output.toFile()).start();
        boolean ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
        if (!ended) {
            process.destroyForcibly();
        }
        String text = Files.readString(output);
        assertTrue(ended, () -> command + " did not end: " + text);
        assertTrue(process.exitValue() == 0, () -> command + " exited with " + process.exitValue() + ":\n" + text);
        return text;
    }
}

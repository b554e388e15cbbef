package io.tessera.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The archive with which a process is started. */
class StartArchiveTest {
    @TempDir
    Path app;
    private Path archive;
    private Path jar;

    @BeforeEach
    void recorded() throws IOException {
        Path starts = Files.createDirectory(app.resolve("starts"));
        jar = Files.createFile(app.resolve("some.jar"));
        archive = Files.createFile(starts.resolve("worker.aot"));
        Files.writeString(starts.resolve("java-home"), System.getProperty("java.home") + "\n");
    }

    private List<String> archives() {
        List<String> options = new StartArchive(app).options("worker");
        // Messages of the JVM must never go to standard output.
        assertEquals("-Xlog:disable", options.getFirst());
        assertTrue(options.get(1).endsWith(":stderr"), options::toString);
        return options.stream().filter(option -> option.startsWith("-XX:")).toList();
    }

    @Test
    void oneOfTheseJarsAndThisJavaIsUsed() {
        assertEquals(List.of("-XX:AOTCache=" + archive), archives());
    }

    @Test
    void oneOfOlderJarsIsNot() throws IOException {
        Files.setLastModifiedTime(jar, FileTime.fromMillis(Files.getLastModifiedTime(archive).toMillis() + 1000));
        assertEquals(List.of(), archives());
    }

    @Test
    void oneOfAnotherJavaIsNot() throws IOException {
        Files.writeString(app.resolve("starts/java-home"), app.toString());
        assertEquals(List.of(), archives());
        Files.delete(app.resolve("starts/java-home"));
        assertEquals(List.of(), archives());
    }

    @Test
    void noneIsNoError() throws IOException {
        Files.delete(archive);
        assertEquals(List.of(), archives());
        assertEquals(2, new StartArchive(app.resolve("missing")).options("worker").size());
    }
}

package io.tessera.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The help of each command. */
class HelpTest {
    @TempDir
    private Path folder;

    /** Texts are format strings, in which a percent sign is written twice; else a warning comes first. */
    @ParameterizedTest
    @ValueSource(strings = {"status", "scheduler", "quantum", "policy", "tenant", "why", "limit", "evict", "restore", "counters", "errors", "jvm",
            "doctor", "fence", "simulate"})
    void nothingElseIsSaid(String command) throws Exception {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        PrintStream before = System.err;
        CommandRun help;
        System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
        try {
            help = CommandRun.of(folder, command, "--help");
        } finally {
            System.setErr(before);
        }
        assertEquals("", said.toString(StandardCharsets.UTF_8));
        assertEquals("", help.err());
        assertEquals(0, help.code());
        assertTrue(help.out().contains("Usage: ") && !help.out().contains("%%"), help.out());
    }
}

package io.tessera.software.driver.abi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Compares the layouts with those that a C compiler sees in an installed cuda.h, both ways. */
@Timeout(180)
class StructLayoutsTest {
    private static final Path SOURCE = Path.of("src/test/c/struct_layouts.c");

    @TempDir
    private Path directory;

    private static Path include() {
        String home = System.getenv().getOrDefault("CUDA_HOME", "/usr/local/cuda");
        return Path.of(home, "include");
    }

    @Test
    void layoutsAreThoseOfTheHeader() throws IOException, InterruptedException, IllegalAccessException {
        assumeTrue(Files.exists(include().resolve("cuda.h")), "no toolkit: CUDA_HOME has no include/cuda.h");
        Path program = directory.resolve("struct_layouts");
        run(List.of("cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-I", include().toString(), "-o",
                program.toString(), SOURCE.toString()));
        Map<String, String> seenByC = new TreeMap<>();
        for (String line : run(List.of(program.toString())).lines().toList()) {
            int value = line.lastIndexOf(' ');
            assertEquals(null, seenByC.put(line.substring(0, value), line.substring(value + 1)), line);
        }
        Map<String, String> seenByJava = new TreeMap<>();
        for (Class<?> layout : StructLayouts.class.getDeclaredClasses()) {
            for (Field field : layout.getFields()) {
                seenByJava.put(layout.getSimpleName() + " " + field.getName(), String.valueOf(field.getInt(null)));
            }
        }
        assertEquals(seenByC, seenByJava);
    }

    private String run(List<String> command) throws IOException, InterruptedException {
        Path output = directory.resolve("output");
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile())
                .start();
        assertTrue(process.waitFor(30, TimeUnit.SECONDS), command + " takes too long");
        String text = Files.readString(output, StandardCharsets.UTF_8);
        assertEquals(0, process.exitValue(), text);
        return text;
    }
}

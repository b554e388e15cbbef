package io.tessera.autotalk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The generated code, compiled and called: arguments in registers, on the stack, floats, structures by value. */
class GeneratedCodeTest {
    private static final Path C = Path.of("src/test/c").toAbsolutePath();

    @TempDir
    private Path directory;

    private int run(List<String> command) throws Exception {
        Process process = new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true)
                .redirectOutput(directory.resolve("output").toFile()).start();
        assertTrue(process.waitFor(60, TimeUnit.SECONDS), "no end within a minute: " + command);
        return process.exitValue();
    }

    private void compile(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-O2"));
        command.addAll(List.of(arguments));
        assertEquals(0, run(command), () -> {
            try {
                return Files.readString(directory.resolve("output"));
            } catch (java.io.IOException e) {
                return e.toString();
            }
        });
    }

    private void generate() throws Exception {
        Files.writeString(directory.resolve("x.api"), """
                value handle 64
                entry cuByValue
                  out u64* out
                  in value:handle h
                  in u32 flags
                entry cuMany unknown
                entry cuWrapped
                  in i32 a
                  in CUstream stream
                """);
        Files.writeString(directory.resolve("x.annotations"), "cuWrapped submit LAUNCH\ncu* pass\n");
        assertEquals(0, Main.run("generate", "--api", directory.resolve("x.api").toString(), "--annotations",
                directory.resolve("x.annotations").toString(), "--out", directory.toString()));
    }

    @Test
    void argumentsArriveThroughTrampolinesAndWrappers() throws Exception {
        generate();
        compile("-shared", "-fPIC", "-o", "vendor.so", C.resolve("vendor.c").toString());
        compile("-I.", "-I" + C, "-o", "caller", C.resolve("caller.c").toString(), "trampolines.S", "submit.c",
                "entry_names.c", "hooked_entries.c", "-ldl");
        assertEquals(0, run(List.of("./caller", directory.resolve("vendor.so").toString())));
    }

    @Test
    void exportsAreListedAndUnchangedFilesAreLeftAlone() throws Exception {
        generate();
        String map = Files.readString(directory.resolve("exports.map"));
        assertTrue(map.contains("cuByValue;") && map.contains("cuWrapped;") && map.contains("dlopen;"), map);
        var before = Files.getLastModifiedTime(directory.resolve("trampolines.S"));
        Thread.sleep(20);
        generate();
        assertEquals(before, Files.getLastModifiedTime(directory.resolve("trampolines.S")));
    }

    @Test
    void coverageIsCompared() throws Exception {
        generate();
        String[] call = {"coverage", "--api", directory.resolve("x.api").toString(), "--annotations",
            directory.resolve("x.annotations").toString(), "--out", directory.resolve("C.md").toString()};
        assertEquals(0, Main.run(call));
        List<String> check = new ArrayList<>(List.of(call));
        check.add("--check");
        assertEquals(0, Main.run(check.toArray(String[]::new)));
        Files.writeString(directory.resolve("C.md"), "old");
        assertEquals(1, Main.run(check.toArray(String[]::new)));
    }

    @Test
    void aWrongCallIsAnError() {
        assertEquals(2, Main.run("generate"));
        assertEquals(2, Main.run("nonsense"));
        assertEquals(0, Main.run("--help"));
    }
}

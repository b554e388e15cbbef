package io.tessera.system;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * NVIDIA's compiler on this machine. May be used by several threads at once.
 *
 * @param nvcc   the compiler
 * @param folder its working directory
 */
public record NvccCompiler(Path nvcc, Path folder) {
    private static final Duration BOUND = Duration.ofSeconds(180);

    /** Finds it; skips the test if there is none. */
    public static NvccCompiler find(Path folder) {
        Optional<Path> found = onPath("nvcc");
        assumeTrue(found.isPresent(), "skipped: no nvcc on the PATH");
        assumeTrue(onPath("g++").isPresent(), "skipped: nvcc has no host compiler, there is no g++ on the PATH");
        return new NvccCompiler(found.get(), folder);
    }

    private static Optional<Path> onPath(String name) {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator)).filter(entry -> !entry.isEmpty())
                .map(entry -> Path.of(entry, name)).filter(Files::isExecutable).findFirst();
    }

    /** Runs it; an error of the compiler fails the test. */
    public ProgramResult run(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(nvcc.toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("TESSERA_") || name.startsWith("LD_"));
        try (RunningProgram compiler = new RunningProgram(String.join(" ", command), builder.start())) {
            return compiler.end(BOUND).exits(0);
        }
    }
}

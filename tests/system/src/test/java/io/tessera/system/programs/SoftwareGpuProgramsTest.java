package io.tessera.system.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.tessera.system.NvccCompiler;
import io.tessera.system.ProgramLaunch;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.TestRun;
import io.tessera.testing.BuildOutputs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The programs of tests/programs, compiled by nvcc, with Tessera's runtime library, on the software GPU. */
@Tag("nvcc")
@ExtendWith(RunWatcher.class)
class SoftwareGpuProgramsTest {
    private static final Duration BOUND = Duration.ofSeconds(60);
    private static final long COMPILED_WITHIN_SECONDS = 400;
    /** Number of compilers at a time: each takes more than half a GiB. */
    private static final int COMPILERS = 2;
    private static final Path SOURCES = BuildOutputs.root().resolve("tests/programs");
    /** Only PTX is compiled, since there is no machine code for the software GPU. */
    private static final List<String> FLAGS = List.of("-std=c++17", "-arch=compute_75", "-code=compute_75");
    private static final List<String> PRINTED = List.of("line 1 of 3:  0.00 text a ff",
            "line 2 of 3:  1.50 text b 100", "line 3 of 3:  3.00 text c 101", "after");

    @TempDir
    static Path folder;
    private static final ExecutorService COMPILING = Executors.newFixedThreadPool(COMPILERS);
    private static final Map<String, Future<Path>> PROGRAMS = new TreeMap<>();

    static List<String> programs() throws IOException {
        try (Stream<Path> files = Files.list(SOURCES)) {
            return files.map(file -> file.getFileName().toString()).filter(name -> name.endsWith(".cu"))
                    .map(name -> name.substring(0, name.length() - 3)).sorted().toList();
        }
    }

    @BeforeAll
    static void compile() throws IOException {
        NvccCompiler compiler = NvccCompiler.find(folder);
        List<String> names = programs();
        assertTrue(names.size() >= 8, names::toString);
        for (String name : names) {
            PROGRAMS.put(name, COMPILING.submit(compiled(compiler, name, "shared", name)));
        }
        PROGRAMS.put("static", COMPILING.submit(compiled(compiler, "printing", "static", "printing_static")));
    }

    private static Callable<Path> compiled(NvccCompiler compiler, String source, String runtime, String target) {
        return () -> {
            String[] arguments = Stream.concat(FLAGS.stream(), Stream.of("-cudart", runtime, "-o", target,
                    SOURCES.resolve(source + ".cu").toString())).toArray(String[]::new);
            compiler.run(arguments);
            return folder.resolve(target);
        };
    }

    @AfterAll
    static void end() {
        COMPILING.shutdownNow();
    }

    private static ProgramLaunch shared(TestRun run, String program, String... options) throws Exception {
        Path built = PROGRAMS.get(program).get(COMPILED_WITHIN_SECONDS, TimeUnit.SECONDS);
        String[] command = Stream.of(Stream.of(BuildOutputs.root().resolve("tools/tessera").toString(), "run", "--share",
                "space"), Stream.of(options), Stream.of("--", built.toString())).flatMap(part -> part).toArray(String[]::new);
        return run.command(command).without("LD_PRELOAD").without("LD_LIBRARY_PATH").without("TESSERA_DRIVER");
    }

    @ParameterizedTest
    @MethodSource("programs")
    void computesWhatItShould(String program, TestRun run) throws Exception {
        run.sharedManager("--executors", "software");
        run.expectClientError("is not supported");
        ProgramResult result = shared(run, program, "--runtime", "tessera").start().end(BOUND).exits(0);
        assertEquals(List.of(), result.output().stream().filter(line -> line.contains("WRONG")).toList());
        assertEquals(List.of(), result.errors());
        if (program.equals("printing")) {
            assertEquals(PRINTED, result.output());
        } else {
            assertTrue(result.output().stream().anyMatch(line -> line.endsWith(" ok")), result::toString);
        }
    }

    /** The output of a fenced kernel, constant strings included, equals its output without a fence. */
    @Test
    void fencedKernelsPrintTheSame(TestRun run) throws Exception {
        run.manager("--executors", "software", "--fence", "mask", "--fence-alone", "yes");
        ProgramResult result = shared(run, "printing", "--runtime", "tessera").start().end(BOUND).exits(0);
        assertEquals(List.of(), result.errors());
        assertEquals(PRINTED, result.output());
    }

    /** NVIDIA's own runtime inside a program asks the driver for an integrity check that only NVIDIA's driver passes. */
    @Test
    void staticRuntimeWithoutADriverIsToldWhatToDo(TestRun run) throws Exception {
        assumeFalse(Files.exists(Path.of("/dev/nvidiactl")), "skipped: this machine has NVIDIA's driver");
        run.sharedManager("--executors", "software");
        run.expectLine("this program has NVIDIA's CUDA runtime inside");
        run.expectClientError("");
        ProgramResult result = shared(run, "static").start().end(BOUND);
        assertTrue(result.exit() != 0, result::toString);
        assertEquals(1, result.errors().size(), result::toString);
        String line = result.errors().getFirst();
        for (String part : List.of("static", "NVIDIA's driver", "link", "-cudart shared")) {
            assertTrue(line.contains(part), () -> part + " is missing from: " + line);
        }
    }
}

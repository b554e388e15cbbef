package io.tessera.system.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.system.NvccCompiler;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.TestRun;
import io.tessera.testing.BuildOutputs;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Fenced programs that nvcc links from several files: their parts are fenced and linked, except the library that has no PTX. */
@Tag("nvcc")
@ExtendWith(RunWatcher.class)
class LinkedProgramsTest {
    private static final Duration BOUND = Duration.ofSeconds(90);
    private static final Path SOURCES = BuildOutputs.root().resolve("tests/programs/fenced");

    @TempDir
    static Path folder;

    @BeforeAll
    static void compile() throws IOException {
        compile("parts");
        compile("launches", "-DLAUNCHES");
    }

    private static void compile(String name, String... options) throws IOException {
        String[] all = Stream
                .of(Stream.of("-std=c++17", "-arch=compute_75", "-code=compute_75", "-rdc=true", "-cudart", "shared"), Stream.of(options),
                        Stream.of("-o", name, SOURCES.resolve("parts.cu").toString(), SOURCES.resolve("parts_callee.cu").toString()))
                .flatMap(part -> part).toArray(String[]::new);
        NvccCompiler.find(folder).run(all);
    }

    private static ProgramResult run(TestRun run, String program, String... options) {
        String[] command = Stream
                .of(Stream.of(BuildOutputs.root().resolve("tools/tessera").toString(), "run", "--share", "space", "--runtime", "tessera"),
                        Stream.of(options), Stream.of("--", folder.resolve(program).toString()))
                .flatMap(part -> part).toArray(String[]::new);
        return run.command(command).without("LD_PRELOAD").without("LD_LIBRARY_PATH").without("TESSERA_DRIVER").start().end(BOUND).exits(0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"mask", "modulo", "check"})
    void partsAreFencedAndLinked(String mode, TestRun run) {
        run.sharedManager("--executors", "software");
        ProgramResult result = run(run, "parts", "--fence", mode, "--fence-alone", "--unfenced", "refuse");
        assertEquals(List.of("cudaSuccess", "right"), result.output(), result::toString);
        assertEquals(List.of(), result.errors());
    }

    @Test
    void whatNeedsThePartWithoutPtxIsRefusedAndSaysWhy(TestRun run) {
        run.sharedManager("--executors", "software");
        String why = "kernel .*parent.* is refused: .*'__cudaCDP2\\w+' launches or allocates from the device, outside all limits; run the program with --share time";
        run.expectLine(why);
        run.expectClientError(why);
        ProgramResult result = run(run, "launches", "--fence", "mask", "--fence-alone");
        assertEquals(List.of("cudaErrorInvalidDeviceFunction", "wrong"), result.output(), result::toString);
        assertTrue(result.errors().stream().anyMatch(line -> line.matches(".*" + why + ".*")), result::toString);
    }

    @Test
    void theToolFencesPartsAsWhatIsLinked(TestRun run) {
        ProgramResult result = run
                .command(BuildOutputs.root().resolve("tools/tessera").toString(), "fence", "--no-compile", folder.resolve("parts").toString())
                .without("LD_PRELOAD").start().end(BOUND).exits(0);
        assertTrue(result.output().stream().anyMatch(line -> line.startsWith("3 images, 2 with PTX for this GPU") && line.endsWith("none refused")),
                result::toString);
    }
}

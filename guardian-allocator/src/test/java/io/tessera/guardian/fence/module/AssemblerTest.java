package io.tessera.guardian.fence.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.ptx.parse.PtxParser;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** NVIDIA's assembler takes what the rewriter writes. */
@Tag("nvcc")
@Timeout(240)
class AssemblerTest {
    @TempDir
    static Path folder;
    private static Path ptxas;

    @BeforeAll
    static void findAssembler() {
        String path = System.getenv("PATH") + File.pathSeparator + "/usr/local/cuda/bin";
        Optional<Path> found = Stream.of(path.split(File.pathSeparator)).filter(entry -> !entry.isEmpty())
                .map(entry -> Path.of(entry, "ptxas")).filter(Files::isExecutable).findFirst();
        assumeTrue(found.isPresent(), "skipped: no ptxas on the PATH nor in /usr/local/cuda/bin");
        ptxas = found.get();
    }

    static Stream<Arguments> modules() {
        Path others = Fences.FOLDER.resolveSibling("ptx");
        Stream<Path> files = Stream.of(Stream.of(Fences.FOLDER.resolveSibling("old").resolve("isa21.ptx")),
                Fences.names().stream().map(name -> Fences.FOLDER.resolve(name + ".ptx")),
                Stream.of("memory.90.lines", "numbers.80", "softmax.90a.triton", "threads.90", "handwritten", "calls.75",
                        "calls.75.debug", "pipelines.80", "pipelines.90", "transform.90").map(name -> others.resolve(name + ".ptx")))
                .flatMap(each -> each);
        return files.flatMap(file -> Stream.of(FenceMode.values()).map(mode -> Arguments.of(file, mode)));
    }

    @ParameterizedTest
    @MethodSource("modules")
    void takes(Path file, FenceMode mode) throws Exception {
        FencedModule fenced = new Fencer(mode).fence(PtxParser.parse(Files.readString(file)));
        Path source = Files.writeString(folder.resolve("module.ptx"), fenced.ptx());
        Path output = folder.resolve("output.txt");
        Process process = new ProcessBuilder(ptxas.toString(), "-arch=sm_90a", "-c", source.toString(), "-o",
                folder.resolve("module.cubin").toString()).redirectErrorStream(true).redirectOutput(output.toFile()).start();
        boolean ended = process.waitFor(120, TimeUnit.SECONDS);
        if (!ended) {
            process.destroyForcibly();
        }
        assertEquals(0, ended ? process.exitValue() : -1, Files.readString(output));
    }
}

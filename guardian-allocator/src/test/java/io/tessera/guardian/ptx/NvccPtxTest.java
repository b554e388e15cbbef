package io.tessera.guardian.ptx;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.ptx.print.PtxPrinter;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * PTX of NVIDIA's compiler is read, and NVIDIA's assembler makes the same machine code of the printed text as of the original.
 */
@Tag("nvcc")
@Timeout(240)
class NvccPtxTest {
    private static final int COMPILE_SECONDS = 60;

    @TempDir
    static Path folder;
    private static Path nvcc;
    private static Path ptxas;

    @BeforeAll
    static void findCompiler() {
        Optional<Path> found = onPath("nvcc");
        assumeTrue(found.isPresent(), "skipped: no nvcc on the PATH nor in /usr/local/cuda/bin");
        assumeTrue(onPath("g++").isPresent(), "skipped: nvcc has no host compiler, there is no g++ on the PATH");
        Optional<Path> assembler = onPath("ptxas");
        assumeTrue(assembler.isPresent(), "skipped: no ptxas beside nvcc");
        nvcc = found.get();
        ptxas = assembler.get();
    }

    private static Optional<Path> onPath(String name) {
        String path = System.getenv("PATH") + File.pathSeparator + "/usr/local/cuda/bin";
        return Stream.of(path.split(File.pathSeparator)).filter(entry -> !entry.isEmpty())
                .map(entry -> Path.of(entry, name)).filter(Files::isExecutable).findFirst();
    }

    private static void run(Path program, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(List.of(arguments));
        Path output = Files.createTempFile(folder, "output", ".txt");
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
        boolean ended = process.waitFor(COMPILE_SECONDS, TimeUnit.SECONDS);
        if (!ended) {
            process.destroyForcibly();
        }
        assertTrue(ended && process.exitValue() == 0, () -> command + " failed: " + read(output));
    }

    private static String read(Path file) {
        return new String(Samples.bytes(file), StandardCharsets.UTF_8);
    }

    /** The machine code of a module; its file has the same name every time, for the case that the name is in it. */
    private static byte[] assemble(String ptx, String architecture, String subfolder, String... options)
            throws IOException, InterruptedException {
        Path place = Files.createDirectories(folder.resolve(subfolder));
        Path source = Files.writeString(place.resolve("module.ptx"), ptx);
        Path cubin = place.resolve("module.cubin");
        List<String> arguments = new ArrayList<>(List.of(options));
        arguments.addAll(List.of("-arch=" + architecture, source.toString(), "-o", cubin.toString()));
        run(ptxas, arguments.toArray(String[]::new));
        return Files.readAllBytes(cubin);
    }

    private static String roundTrip(String original) throws PtxException {
        PtxModule module = PtxParser.parse(original);
        String printed = PtxPrinter.print(module);
        assertEquals(module, PtxParser.parse(printed));
        return printed;
    }

    private static String compile(String kernel, String architecture, String... options)
            throws IOException, InterruptedException {
        Path ptx = folder.resolve(kernel + "." + architecture + ".ptx");
        List<String> arguments = new ArrayList<>(List.of("-ptx", "-std=c++17", "-arch=" + architecture));
        arguments.addAll(List.of(options));
        arguments.addAll(List.of(Samples.FOLDER.resolve(kernel + ".cu").toString(), "-o", ptx.toString()));
        run(nvcc, arguments.toArray(String[]::new));
        return read(ptx);
    }

    @ParameterizedTest
    @CsvSource({"calls, sm_75", "calls, sm_100a", "memory, sm_75", "memory, sm_90", "threads, sm_80", "threads, sm_90",
            "numbers, sm_75", "numbers, sm_90", "hopper, sm_90a", "pipelines, sm_90"})
    void theMachineCodeStaysTheSame(String kernel, String architecture) throws Exception {
        String original = compile(kernel, architecture);
        assertArrayEquals(assemble(original, architecture, "original"),
                assemble(roundTrip(original), architecture, "printed"));
    }

    @ParameterizedTest
    @CsvSource({"calls, sm_75, -G, -g", "memory, sm_90, -lineinfo, -lineinfo", "threads, sm_80, -G, -g",
            "numbers, sm_80, -rdc=true, -c"})
    void debugInformationIsTaken(String kernel, String architecture, String compilerOption, String assemblerOption)
            throws Exception {
        String printed = roundTrip(compile(kernel, architecture, compilerOption));
        assertTrue(assemble(printed, architecture, "debug", assemblerOption).length > 0);
    }

    @ParameterizedTest
    @CsvSource({"handwritten, sm_90"})
    void handwrittenFormsAreTaken(String name, String architecture) throws Exception {
        String original = read(Samples.FOLDER.resolve(name + ".ptx"));
        assertArrayEquals(assemble(original, architecture, "original"),
                assemble(roundTrip(original), architecture, "printed"));
    }
}

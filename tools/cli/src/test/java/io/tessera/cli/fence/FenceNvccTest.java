package io.tessera.cli.fence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.tessera.cli.CommandRun;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The command from end to end, on a program that NVIDIA's compiler made, with NVIDIA's assembler. */
@Tag("nvcc")
@Timeout(240)
class FenceNvccTest {
    private static final String PROGRAM = """
            __device__ float table[256];
            __device__ float twice(float x) { return 2 * x; }
            __global__ void axpy(float a, const float *x, float *y, int n) {
                int i = blockIdx.x * blockDim.x + threadIdx.x;
                if (i < n) y[i] = a * x[i] + twice(table[i & 255]);
            }
            __global__ void sum(const float *x, float *total, int n) {
                __shared__ float part[128];
                part[threadIdx.x] = 0;
                for (int i = threadIdx.x; i < n; i += blockDim.x) part[threadIdx.x] += x[i];
                __syncthreads();
                if (threadIdx.x < 128) atomicAdd(total, part[threadIdx.x]);
            }
            int main() { axpy<<<1, 32>>>(1, nullptr, nullptr, 0); sum<<<1, 128>>>(nullptr, nullptr, 0); return 0; }
            """;

    @TempDir
    private Path folder;

    private static Optional<Path> onPath(String name) {
        String path = System.getenv("PATH") + File.pathSeparator + "/usr/local/cuda/bin";
        return Stream.of(path.split(File.pathSeparator)).filter(entry -> !entry.isEmpty())
                .map(entry -> Path.of(entry, name)).filter(Files::isExecutable).findFirst();
    }

    private void compile(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(onPath("nvcc").orElseThrow().toString()));
        command.addAll(List.of(arguments));
        Path said = folder.resolve("said");
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile()).start();
        boolean ended = process.waitFor(120, TimeUnit.SECONDS);
        if (!ended) {
            process.destroyForcibly();
        }
        assertTrue(ended && process.exitValue() == 0, Files.readString(said, StandardCharsets.ISO_8859_1));
    }

    private CommandRun fence(String... arguments) throws Exception {
        Map<String, String> environment = Map.of("TESSERA_CACHE_DIR", folder.resolve("cache").toString(),
                "TESSERA_STATE_DIR", folder.resolve("state").toString(), "PATH", System.getenv("PATH"));
        List<String> words = new ArrayList<>(List.of("fence"));
        words.addAll(List.of(arguments));
        return CommandRun.of(folder, false, environment, words.toArray(String[]::new));
    }

    @Test
    void aProgramIsFencedCompiledAndShown() throws Exception {
        assumeTrue(onPath("nvcc").isPresent() && onPath("ptxas").isPresent() && onPath("g++").isPresent(),
                "skipped: no nvcc, ptxas or g++");
        Path source = Files.writeString(folder.resolve("program.cu"), PROGRAM);
        String program = folder.resolve("program").toString();
        compile("-O2", "-gencode", "arch=compute_75,code=compute_75", "-o", program, source.toString());
        for (String mode : List.of("mask", "modulo", "check", "none")) {
            CommandRun run = fence("--json", "--mode", mode, program);
            assertEquals(0, run.code(), run.out() + run.err());
            List<JsonObject> lines = run.out().lines().map(line -> JsonParser.parseString(line).getAsJsonObject())
                    .toList();
            JsonObject image = lines.stream().filter(line -> line.has("functions") && line.get("ptxBytes").getAsLong() > 0
                    && !line.getAsJsonArray("functions").isEmpty()).findFirst().orElseThrow();
            assertEquals("cache", image.getAsJsonArray("written").get(0).getAsString());
            JsonObject axpy = image.getAsJsonArray("functions").asList().stream().map(one -> one.getAsJsonObject())
                    .filter(one -> one.get("name").getAsString().contains("axpy")).findFirst().orElseThrow();
            assertTrue(axpy.getAsJsonObject("after").get("registers").getAsInt() > 0, run.out());
            assertTrue(axpy.getAsJsonObject("before").get("registers").getAsInt() > 0, run.out());
            assertEquals(2, lines.getLast().getAsJsonObject("totals").get("kernels").getAsInt(), run.out());
        }
        CommandRun shown = fence("--show", "_Z4axpyfPKfPfi", program);
        assertEquals(0, shown.code(), shown.err());
        assertTrue(shown.out().contains("\n+ ") && shown.out().contains("__tessera_window"), shown.out());
    }

    @Test
    void machineCodeIsFencedAndShown() throws Exception {
        assumeTrue(onPath("nvcc").isPresent() && onPath("g++").isPresent(), "skipped: no nvcc or g++");
        String program = machineCode(PROGRAM);
        CommandRun run = fence("--machine-code", program);
        assertEquals(0, run.code(), run.out() + run.err());
        assertTrue(run.out().contains("2 kernels: 2 fenced, 0 refused; fence mask"), run.out());
        CommandRun shown = fence("--machine-code", "--window", "4G", "--show", "_Z3sumPKfPfi", program);
        assertEquals(0, shown.code(), shown.err());
        assertTrue(shown.out().contains("LDG") && shown.out().contains(".U32+UR"), shown.out());
    }

    /** The host accesses a managed variable by the address that the driver gave it, so it stays there. */
    @Test
    void machineCodeThatIsRefusedIsNamed() throws Exception {
        assumeTrue(onPath("nvcc").isPresent() && onPath("g++").isPresent(), "skipped: no nvcc or g++");
        CommandRun run = fence("--machine-code", machineCode(PROGRAM.replace("__device__ float table", "__managed__ float table")));
        assertEquals(4, run.code(), run.err());
        assertTrue(run.out().contains("refused: _Z4axpyfPKfPfi: a use of a variable of the module that cannot be moved at offset 0x"), run.out());
        assertTrue(run.out().contains("2 kernels: 1 fenced, 1 refused; fence mask"), run.out());
    }

    private String machineCode(String text) throws Exception {
        Path source = Files.writeString(folder.resolve("program.cu"), text);
        String program = folder.resolve("program").toString();
        compile("-O2", "-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90,code=sm_90", "-o", program, source.toString());
        return program;
    }
}

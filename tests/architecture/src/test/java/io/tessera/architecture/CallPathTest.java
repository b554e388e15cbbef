package io.tessera.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * How many functions of the preload library a call passes, within the limits of {@code native-preload/checks/call-path}. It builds the library once more, which
 * takes half a minute the first time. The executor's side is {@code CallDepthTest}.
 */
@Timeout(600)
class CallPathTest {
    @TempDir
    Path folder;

    private record Outcome(int exit, String said) {
    }

    private Outcome run(String... arguments) throws IOException, InterruptedException {
        assumeTrue(hasPython(), "no python3");
        String script = SourceTree.root().resolve("native-preload/checks/call-path").toString();
        String[] command = new String[arguments.length + 1];
        command[0] = script;
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        Path said = folder.resolve("said");
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile()).start();
        process.getOutputStream().close();
        if (!process.waitFor(500, TimeUnit.SECONDS)) {
            process.destroyForcibly();
        }
        return new Outcome(process.waitFor(), Files.readString(said));
    }

    private static boolean hasPython() {
        return Arrays.stream(System.getenv("PATH").split(":")).anyMatch(path -> Files.isExecutable(Path.of(path, "python3")));
    }

    @Test
    void callsPassFewFunctions() throws Exception {
        Outcome outcome = run();
        System.out.println(outcome.said());
        assertEquals(0, outcome.exit(), outcome.said());
    }

    @Test
    void aLimitThatIsMissedIsSeen() throws Exception {
        Outcome outcome = run("--less", "6");
        assertEquals(1, outcome.exit(), outcome.said());
        for (String call : List.of("cuMemAlloc_v2 (direct): ", "cuLaunchKernel (direct): ", "cuLaunchKernel (relay): ")) {
            assertTrue(outcome.said().contains("call-path: " + call), call + "is not in " + outcome.said());
        }
    }
}

package io.tessera.cli.script;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.tessera.cli.script.Kit.Result;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code tessera run} beside a manager: what reaches the program, what comes back, and that no Java is started. */
@Timeout(300)
class RunScriptTest {
    @TempDir
    private Path folder;
    private Kit kit;

    @BeforeEach
    void kit() throws IOException, InterruptedException {
        kit = new Kit(folder);
        kit.pretendManager();
    }

    @AfterEach
    void noJavaWasStarted() throws IOException {
        assertEquals(0, kit.javaStarts());
        kit.close();
    }

    /** Value of a variable in the program's environment; empty if unset. */
    private String variable(String name, String... options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(kit.scripts.resolve("tessera").toString(), "run"));
        command.addAll(List.of(options));
        command.addAll(List.of("--", "sh", "-c", "printf %s \"$" + name + "\""));
        Result result = kit.run(command);
        assertEquals(0, result.code(), result.err());
        assertEquals("", result.err());
        return result.out();
    }

    @ParameterizedTest
    @CsvSource({"TESSERA_FENCE,--fence,check,check", "TESSERA_UNFENCED,--unfenced,time,time",
            "TESSERA_KERNEL_TIMEOUT,--kernel-timeout,90s,90"})
    void fencesOfTheTenant(String name, String option, String value, String expected) throws Exception {
        assertEquals(expected, variable(name, "--share", "space", option, value));
        assertEquals(expected, variable(name, "--share=space", option + "=" + value));
        assertEquals("", variable(name));
        assertEquals(2, kit.tessera("run", option, "nonsense", "--", "true").code());
    }

    @ParameterizedTest
    @ValueSource(strings = {"--wait=abc", "--wait=", "--wait=-1", "--wait=1.5", "--wait=31536001", "--wait=999999999999", "--wait=s"})
    void waitsThatAreNoTimeAreRefused(String option) throws Exception {
        Result result = kit.tessera("run", option, "--", "echo", "started");
        assertEquals(2, result.code());
        assertEquals("", result.out());
        assertTrue(result.err().startsWith("tessera: " + option + ": how long to wait is a number of seconds from 0 to 31536000"), result.err());
    }

    @Test
    void withoutAManagerThereIsNothingToWaitFor() throws Exception {
        kit.environment.put("TESSERA_RUNTIME_DIR", Files.createDirectory(folder.resolve("nobody")).toString());
        Result result = kit.tessera("run", "--wait=5", "--no-manager", "--", "echo", "started");
        assertEquals(new Result(3, "", "tessera: --wait: no manager runs, and --no-manager starts none: there is nobody to wait for\n"), result);
    }

    @Test
    void whatCannotBeStartedDoesNotWait() throws Exception {
        kit.environment.put("TESSERA_RUNTIME_DIR", Files.createDirectory(folder.resolve("nobody")).toString());
        Result result = kit.tessera("run", "--no-manager", "--wait", "3", "--", "echo", "started");
        assertEquals(new Result(127, "", "tessera: 3: not found; for at most 3 seconds waits --wait=3\n"), result);
    }

    @Test
    void aProgramWithoutTheLibraryWaitsForNothing() throws Exception {
        kit.environment.put("TESSERA_DISABLE", "1");
        assertEquals("1", variable("TESSERA_DISABLE", "--wait"));
    }

    @Test
    void fencesAlsoAlone() throws Exception {
        assertEquals("1", variable("TESSERA_FENCE_ALONE", "--share", "space", "--fence-alone"));
    }

    @Test
    void argumentsArriveAsTheyAre() throws Exception {
        Result result = kit.tessera("run", "--", "printf", "[%s]", "a b", "", "c'd\"e", "*", "$HOME", "--memory", "x\ny");
        assertEquals(new Result(0, "[a b][][c'd\"e][*][$HOME][--memory][x\ny]", ""), result);
    }

    @Test
    void theDashesCanBeLeftOut() throws Exception {
        assertEquals(new Result(0, "x --name y\n", ""), kit.tessera("run", "--name", "n", "echo", "x", "--name", "y"));
    }

    @ParameterizedTest
    @CsvSource({"exit 0,0", "exit 3,3", "exit 255,255", "kill -INT $$,130", "kill -KILL $$,137"})
    void exitCodesAndDeathBySignalPassThrough(String program, int code) throws Exception {
        assertEquals(code, kit.tessera("run", "--", "sh", "-c", program).code());
    }

    @Test
    void aProgramThatIsNotThereOrCannotBeExecuted() throws Exception {
        Path nothing = folder.resolve("nothing");
        assertEquals(new Result(127, "", "tessera: " + nothing + ": not found\n"), kit.tessera("run", "--", nothing.toString()));
        assertEquals(new Result(127, "", "tessera: no-such-program: not found\n"), kit.tessera("run", "--", "no-such-program"));
        assertEquals(new Result(127, "", "tessera: 5: not found\n"), kit.tessera("run", "--", "5"));
        Path text = Files.writeString(folder.resolve("text"), "x");
        assertEquals(new Result(126, "", "tessera: " + text + ": cannot be executed: chmod +x, or its interpreter before it\n"),
                kit.tessera("run", "--", text.toString()));
        assertEquals(new Result(126, "", "tessera: " + folder + ": a directory, no program\n"), kit.tessera("run", "--", folder.toString()));
    }

    @Test
    void signalsReachTheProgramItself() throws Exception {
        Process process = kit.start(kit.builder(List.of(kit.scripts.resolve("tessera").toString(), "run", "--", "sh",
                "-c", "trap 'exit 42' TERM; echo $$; while :; do sleep 0.05; done")));
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        assertEquals(process.pid(), Long.parseLong(out.readLine()), "the program has replaced the script");
        process.destroy();
        assertTrue(process.waitFor(Kit.PATIENCE_S, TimeUnit.SECONDS));
        assertEquals(42, process.exitValue());
    }

    @Test
    void ourLibrariesComeFirst() throws Exception {
        String lib = kit.home.resolve("lib").toString();
        String ours = lib + "/libcuda.so.1:" + lib + "/libnvidia-ml.so.1";
        assertEquals(ours, variable("LD_PRELOAD"));
        assertEquals(lib, variable("LD_LIBRARY_PATH"));
        assertEquals(lib, variable("TRITON_LIBCUDA_PATH"));
        Path other = folder.resolve("other.so");
        kit.library(other);
        kit.environment.put("LD_PRELOAD", other.toString());
        kit.environment.put("LD_LIBRARY_PATH", "/opt/x:/opt/y");
        assertEquals(ours + ":" + other, variable("LD_PRELOAD"));
        assertEquals(lib + ":/opt/x:/opt/y", variable("LD_LIBRARY_PATH"));
    }

    @Test
    void oneRunInsideAnotherChangesNothing() throws Exception {
        String tessera = kit.scripts.resolve("tessera").toString();
        String lib = kit.home.resolve("lib").toString();
        Result result = kit.tessera("run", "--name", "outer", "--", tessera, "run", "--", "sh", "-c",
                "printf '%s %s %s' \"$LD_PRELOAD\" \"$LD_LIBRARY_PATH\" \"$TESSERA_NAME\"");
        assertEquals(lib + "/libcuda.so.1:" + lib + "/libnvidia-ml.so.1 " + lib + " outer", result.out());
    }

    @Test
    void optionsBecomeTheProgramsEnvironment() throws Exception {
        assertEquals("alice b", variable("TESSERA_NAME", "--name", "alice b"));
        assertEquals("managed", variable("TESSERA_PLAN", "--plan=managed"));
        assertEquals("auto", variable("TESSERA_PLAN"));
        assertEquals("1", variable("TESSERA_REQUIRE", "--require"));
        assertEquals("", variable("TESSERA_REQUIRE"));
        assertEquals("0,1", variable("CUDA_VISIBLE_DEVICES", "--device", "0,1"));
        assertEquals("GPU-1-2", variable("CUDA_VISIBLE_DEVICES", "--device=GPU-1-2"));
        assertEquals("", variable("TESSERA_MEMORY"));
        assertEquals(kit.runtime.toString(), variable("TESSERA_RUNTIME_DIR"));
        assertTrue(variable("TESSERA_NAME").matches("sh-\\d+"));
    }

    /** The constant is the only place where the default is. */
    @ParameterizedTest
    @ValueSource(strings = {"plain", "auto"})
    void theDefaultPlanIsAConstant(String plan) throws Exception {
        Path script = kit.scripts.resolve("tessera");
        Files.writeString(script, Files.readString(script).replaceFirst("(?m)^default_plan=\\w+$", "default_plan=" + plan));
        assertEquals(plan, variable("TESSERA_PLAN"));
        assertEquals("managed", variable("TESSERA_PLAN", "--plan", "managed"));
        assertEquals(plan.equals("auto") ? 0 : 2, kit.tessera("run", "--memory-guarantee", "1GiB", "--", "true").code());
        assertTrue(kit.tessera("help", "run").out().contains("Default: " + plan + "\n"));
        kit.environment.put("TESSERA_PLAN", "swap");
        assertEquals("swap", variable("TESSERA_PLAN"));
    }

    @Test
    void memoryThatCanLeave() throws Exception {
        for (String plan : List.of("auto", "plain", "managed", "swap")) {
            assertEquals(plan, variable("TESSERA_PLAN", "--plan", plan));
        }
        assertEquals("2147483648", variable("TESSERA_MEMORY_GUARANTEE", "--plan", "swap", "--memory-guarantee", "2GiB"));
        assertEquals("1024", variable("TESSERA_SWAP_FILE_BYTES", "--plan", "swap", "--swap-directory",
                folder.toString(), "--swap-file=1KiB"));
        assertEquals(folder.toString(), variable("TESSERA_SWAP_DIRECTORY", "--swap-directory=" + folder));
        kit.environment.put("TESSERA_PLAN", "fast");
        assertEquals(2, kit.tessera("run", "--", "true").code());
    }

    @ParameterizedTest
    @CsvSource({"TESSERA_UNFENCED,refused", "TESSERA_FENCE,on", "TESSERA_MEMORY,9223372036854775808", "TESSERA_MEMORY_GUARANTEE,abc",
            "TESSERA_PLAN,fast", "TESSERA_SHARE,both", "TESSERA_KERNEL_TIMEOUT,soon", "TESSERA_SWAP_FILE_BYTES,-1",
            "TESSERA_SWAP_DIRECTORY,/nowhere", "TESSERA_MANAGER_TIMEOUT_MS,5s", "TESSERA_MANAGER_TIMEOUT_MS,0", "TESSERA_MEMORY_WAIT_MS,-1",
            "TESSERA_MANAGER_TIMEOUT_MS,31536000001", "TESSERA_KERNEL_TIMEOUT,31536001", "TESSERA_DISABLE,yes", "TESSERA_REQUIRE,2",
            "TESSERA_QUIET,x", "TESSERA_FENCE_ALONE,no", "TESSERA_TRACE,/tmp", "TESSERA_MOVE_TRACE,/nowhere/trace", "TESSERA_NVML,/nowhere"})
    void aWrongVariableIsAnErrorWithItsName(String variable, String value) throws Exception {
        kit.environment.put(variable, value);
        Result result = kit.tessera("run", "--", "echo", "ran");
        assertEquals(2, result.code());
        assertEquals("", result.out());
        assertTrue(result.err().contains("tessera: " + variable), result.err());
        assertEquals(0, kit.javaStarts());
    }

    @ParameterizedTest
    @CsvSource({"--plan plain --memory-guarantee 1GiB,--plan swap or auto",
            "--plan swap --memory 1GiB --memory-guarantee 2GiB,is more than --memory",
            "--plan swap --swap-file 1GiB,needs --swap-directory", "--swap-directory /nowhere,can be written to"})
    void memoryThatDoesNotGoTogether(String options, String expected) throws Exception {
        List<String> command = new ArrayList<>(List.of("run"));
        command.addAll(List.of(options.split(" ")));
        command.addAll(List.of("--", "echo", "ran"));
        Result result = kit.tessera(command.toArray(String[]::new));
        assertEquals(2, result.code());
        assertEquals("", result.out());
        assertTrue(result.err().contains(expected), result.err());
    }

    @ParameterizedTest
    @CsvSource({"8GiB,8589934592", "8G,8589934592", "512MiB,536870912", "1K,1024", "2TiB,2199023255552", "100,100",
            "100B,100", "010MiB,10485760", "3KB,3000", "1MB,1000000", "2GB,2000000000", "1TB,1000000000000",
            "8388607TiB,9223370937343148032"})
    void sizes(String size, String bytes) throws Exception {
        assertEquals(bytes, variable("TESSERA_MEMORY", "--memory", size));
        kit.environment.put("TESSERA_MEMORY", size);
        assertEquals(bytes, variable("TESSERA_MEMORY"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "0GiB", "-1", "GiB", "8gb", "8 GiB", "1.5GiB", "8GiBx", "0x10", "8388608TiB",
            "99999999999999999999", "1;ls"})
    void badSizes(String size) throws Exception {
        Result result = kit.tessera("run", "--memory", size, "--", "echo", "ran");
        assertEquals(2, result.code());
        assertEquals("", result.out());
        assertTrue(result.err().contains("for example 8GiB"), result.err());
    }

    @ParameterizedTest
    @ValueSource(strings = {"--memory", "--plan fast -- true", "--name= -- true", "--device a;b -- true",
            "--device= -- true", "--weight -- true", "--class a;b -- true", "--cap= -- true", "--replayable=maybe -- true",
            "--replayable= -- true", "--replayable yes -- true", "--replayable no -- true", "--replayable", "--fast -- true", "-- ", ""})
    void wrongUsage(String line) throws Exception {
        List<String> command = new ArrayList<>(List.of(kit.scripts.resolve("tessera").toString(), "run"));
        command.addAll(List.of(line.strip().split(" ")));
        command.removeIf(String::isEmpty);
        Result result = kit.run(command);
        assertEquals(2, result.code(), result.err());
        assertTrue(result.err().endsWith("See: tessera help run\n"), result.err());
    }

    @Test
    void aLabelFitsTheProtocol() throws Exception {
        assertEquals(0, kit.tessera("run", "--name", "n".repeat(63), "--", "true").code());
        assertEquals(2, kit.tessera("run", "--name", "n".repeat(64), "--", "true").code());
    }

    @ParameterizedTest
    @CsvSource({"--share space --plan swap,--plan swap has no effect with --share space", "--share space --plan managed,--plan managed has no effect",
            "--share space --memory-guarantee 1GiB,--memory-guarantee has no effect with --share space",
            "--share space --swap-directory /tmp,--swap-directory has no effect",
            "--share time --fence check,--fence has no effect without --share space",
            "--share time --fence-alone,--fence-alone has no effect", "--share time --unfenced time,--unfenced has no effect",
            "--share time --kernel-timeout 9,--kernel-timeout has no effect"})
    void anOptionWithoutEffectIsSaidToHaveNone(String options, String expected) throws Exception {
        Result result = kit.tessera(("run " + options + " -- echo ran").split(" "));
        assertEquals("ran\n", result.out(), result.toString());
        assertEquals(1, result.err().lines().count(), result.err());
        assertTrue(result.err().startsWith("tessera: " + expected), result.err());
    }

    @ParameterizedTest
    @ValueSource(strings = {"--fence check --kernel-timeout 9", "--share space --fence check --memory 1GiB", "--share space --plan auto",
            "--plan swap --memory-guarantee 1GiB"})
    void anOptionWithAnEffectIsNotSpokenOf(String options) throws Exception {
        assertEquals(new Result(0, "ran\n", ""), kit.tessera(("run " + options + " -- echo ran").split(" ")));
    }

    @Test
    void aTraceThatCanBeWrittenIsNotSpokenOf() throws Exception {
        Path trace = folder.resolve("trace");
        kit.environment.put("TESSERA_TRACE", trace.toString());
        kit.environment.put("TESSERA_MOVE_TRACE", Files.createFile(folder.resolve("moves")).toString());
        assertEquals(trace.toString(), variable("TESSERA_TRACE"));
    }

    @Test
    void aDriverThatIsNotThereIsAnError() throws Exception {
        kit.environment.put("TESSERA_DRIVER", "/nowhere/libcuda.so.1");
        Result result = kit.tessera("run", "--", "echo", "ran");
        assertEquals("", result.out());
        assertEquals(2, result.code());
        assertTrue(result.err().startsWith("tessera: TESSERA_DRIVER=/nowhere/libcuda.so.1: a library that can be read"), result.err());
    }

    /** The places of run.sh, and the loader's cache. */
    private static boolean hasDriver() throws IOException, InterruptedException {
        List<String> folders = List.of("/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64", "/lib64", "/usr/local/nvidia/lib64",
                "/usr/lib/wsl/lib", "/usr/lib", "/usr/local/cuda/compat");
        Process cache = new ProcessBuilder("/sbin/ldconfig", "-p").redirectErrorStream(true).start();
        String listed = new String(cache.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return cache.waitFor() != 0 || listed.contains("libcuda.so.1 ")
                || folders.stream().anyMatch(each -> Files.exists(Path.of(each, "libcuda.so.1")));
    }

    @Test
    void aMachineWithoutADriverIsSaidInOneLineAndTheProgramRuns() throws Exception {
        assumeFalse(hasDriver(), "this machine has a GPU driver");
        kit.environment.remove("TESSERA_DRIVER");
        kit.environment.remove("LD_LIBRARY_PATH");
        Result result = kit.tessera("run", "--", "echo", "ran");
        assertEquals("ran\n", result.out());
        assertEquals(
                "tessera: this machine has no GPU driver (no libcuda.so.1): the program will see no GPU; --share space gives it one in software\n",
                result.err());
        assertEquals("", kit.tessera("run", "--share", "space", "--", "true").err(), "it will have a GPU in software");
    }

    @Test
    void aDriverOnTheLibraryPathIsFoundAndOursIsNotTakenForOne() throws Exception {
        kit.environment.remove("TESSERA_DRIVER");
        Path vendor = Files.createDirectories(folder.resolve("vendor"));
        kit.library(vendor.resolve("libcuda.so.1"));
        kit.environment.put("LD_LIBRARY_PATH", kit.home.resolve("lib") + ":" + vendor);
        assertEquals("", kit.tessera("run", "--", "true").err());
    }

    @Test
    void aHomeWithABlankIsReachedByALink() throws Exception {
        Path blank = folder.resolve("my programs");
        Files.move(kit.home, blank);
        kit.environment.put("TESSERA_DRIVER", blank.resolve("lib/libcuda.so.1").toString());
        Path out = folder.resolve("out");
        Process process = kit.start(kit.builder(List.of(blank.resolve("bin/tessera").toString(), "run", "--", "sh",
                "-c", "printf %s $LD_PRELOAD")).redirectOutput(out.toFile()).redirectError(out.toFile()));
        assertTrue(process.waitFor(Kit.PATIENCE_S, TimeUnit.SECONDS));
        Files.move(blank, kit.home);
        assertEquals(kit.runtime + "/native/libcuda.so.1:" + kit.runtime + "/native/libnvidia-ml.so.1",
                Files.readString(out));
    }

    @Test
    void theScriptIsFoundThroughLinksAndFromAnywhere() throws Exception {
        Path link = Files.createSymbolicLink(folder.resolve("t"), kit.scripts.resolve("tessera"));
        assertEquals(0, kit.run(List.of(link.toString(), "run", "--", "true")).code());
        Result relative = kit.run(List.of("sh", "-c", "cd '" + kit.home + "' && bin/tessera run -- printenv LD_PRELOAD"
                + " && cd bin && ./tessera run -- printenv LD_PRELOAD && sh tessera run -- printenv LD_PRELOAD"));
        assertEquals(0, relative.code(), relative.err());
        assertEquals(3, relative.out().lines().count());
    }

    @Test
    void aKitThatIsNotWholeIsNamed() throws Exception {
        kit.environment.remove("TESSERA_DRIVER"); // it is in the folder that is taken away
        Files.delete(kit.home.resolve("lib/libcuda.so.1"));
        Result result = kit.tessera("run", "--", "echo", "ran");
        assertEquals(1, result.code());
        assertTrue(result.err().contains("libcuda.so.1"), result.err());
        assertEquals("", result.out());
        kit.environment.put("TESSERA_HOME", folder.resolve("elsewhere").toString());
        assertTrue(kit.tessera("run", "--", "true").err().contains("neither"));
    }

    @Test
    void theVersionIsTheProjects() throws Exception {
        assertEquals("tessera " + System.getProperty("tessera.version") + "\n", kit.tessera("--version").out());
    }

    @Test
    void helpAndWhatIsNoCommand() throws Exception {
        assertEquals(0, kit.tessera("--help").code());
        for (String command : List.of("run", "manager")) {
            assertTrue(kit.tessera("help", command).out().startsWith("Usage: tessera " + command));
        }
        assertEquals(2, kit.tessera().code());
        assertEquals(new Result(2, "", "tessera: there is no command frobnicate\nSee: tessera help\n"), kit.tessera("frobnicate"));
        assertEquals(2, kit.tessera("help", "frobnicate").code());
    }
}

package io.tessera.cli.script;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.cli.script.Kit.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code tessera run} where the manager chooses the device: when Java is started to ask, and what becomes of the answer. */
@Timeout(300)
class PlacementScriptTest {
    private static final String SHOW = "printf '[%s]' \"${CUDA_VISIBLE_DEVICES-unset}\"; ls /proc/self/fd | tr '\\n' ' '";

    @TempDir
    private Path folder;
    private Kit kit;
    private int asked;

    @BeforeEach
    void kit() throws IOException, InterruptedException {
        kit = new Kit(folder);
        kit.pretendManager();
        answer("echo GPU-7");
    }

    @AfterEach
    void askedAsOftenAsExpected() throws IOException {
        assertEquals(asked, kit.javaStarts());
        kit.close();
    }

    /** What the command does that asks the manager. */
    private void answer(String body) throws IOException {
        kit.java(kit.home.resolve("jre"), "25.0.1", body + "\n");
    }

    private void managerPlaces() throws IOException {
        Files.writeString(kit.runtime.resolve("placement"), "spread\n");
    }

    private Result run(String... options) throws IOException, InterruptedException {
        String[] command = new String[options.length + 5];
        command[0] = "run";
        System.arraycopy(options, 0, command, 1, options.length);
        System.arraycopy(new String[] {"--", "sh", "-c", SHOW}, 0, command, options.length + 1, 4);
        return kit.tessera(command);
    }

    /** What the program sees; it has inherited no descriptor. */
    private String device(String... options) throws IOException, InterruptedException {
        Result result = run(options);
        assertEquals("", result.err());
        assertEquals(0, result.code());
        assertTrue(result.out().endsWith("]0 1 2 3 "), result.out());
        return result.out().substring(1, result.out().indexOf(']'));
    }

    private List<String> lastArguments() throws IOException {
        List<String> log = Files.readAllLines(kit.log());
        return log.subList(log.indexOf("admission"), log.size());
    }

    @Test
    void autoIsAnsweredByTheManager() throws Exception {
        asked = 1;
        assertEquals("GPU-7", device("--device", "auto", "--memory", "1KiB", "--name", "alice"));
        List<String> arguments = lastArguments();
        assertEquals("--tenant=alice", arguments.get(1));
        assertTrue(arguments.containsAll(List.of("--choose", "--limit=1024", "--no-wait")), arguments::toString);
    }

    @Test
    void whoWaitsIsPlacedToo() throws Exception {
        asked = 1;
        assertEquals("GPU-7", device("--device=auto", "--wait=9", "--share", "space"));
        List<String> arguments = lastArguments();
        assertTrue(arguments.containsAll(List.of("--choose", "--limit=0", "--seconds=9", "--space")), arguments::toString);
        assertTrue(!arguments.contains("--no-wait"), arguments::toString);
    }

    @Test
    void whereTheManagerPlacesWhoNamesNoDeviceIsPlaced() throws Exception {
        assertEquals("unset", device());
        managerPlaces();
        assertEquals("0", device("--device", "0"));
        kit.environment.put("CUDA_VISIBLE_DEVICES", "3");
        assertEquals("3", device());
        kit.environment.put("CUDA_VISIBLE_DEVICES", "");
        assertEquals("", device());
        kit.environment.remove("CUDA_VISIBLE_DEVICES");
        asked = 1;
        assertEquals("GPU-7", device());
    }

    @Test
    void whereThereIsNothingToChooseNothingIsSet() throws Exception {
        answer(":");
        asked = 2;
        assertEquals("unset", device("--device", "auto"));
        kit.environment.put("CUDA_VISIBLE_DEVICES", "1");
        assertEquals("1", device("--device", "auto"));
    }

    @Test
    void withoutAPlaceTheProgramIsNotStarted() throws Exception {
        answer("echo 'tessera: there is no place' >&2; exit 75");
        managerPlaces();
        asked = 2;
        assertEquals(new Result(75, "", "tessera: there is no place\n"), run());
        assertEquals(new Result(75, "", "tessera: there is no place\n"), run("--device", "auto"));
    }

    /** A program that has asked for nothing runs as without a manager. */
    @Test
    void whereNobodyAnswersOnlyWhoHasAskedFails() throws Exception {
        answer("exit 3");
        managerPlaces();
        asked = 3;
        assertEquals("unset", device());
        assertEquals(3, run("--device", "auto").code());
        assertEquals(3, run("--wait").code());
    }

    /** The manager is killed while a program asks it; the program then asks the next one. */
    @Test
    void whereTheManagerIsKilledTheNextOneIsAsked() throws Exception {
        Path killed = folder.resolve("killed");
        answer("case \"$*\" in *ManagerMain*)\n" + Kit.fakeManager() + ";;\nesac\n[ ! -e '" + killed + "' ] || { echo GPU-7; exit 0; }\n: >'" + killed
                + "'\necho GPU-1\nwhile kill -9 " + kit.managerPid()
                + " 2>/dev/null; do sleep 0.02; done\necho 'tessera: the connection is reset' >&2\nexit 1");
        asked = 3; // twice for a device, and once started as a manager
        Result result = run("--device", "auto");
        ProcessHandle.of(kit.managerPid()).ifPresent(ProcessHandle::destroy); // no matter what follows
        assertEquals("tessera: the connection is reset\n", result.err());
        assertTrue(result.out().startsWith("[GPU-7]0 1 2 3 "), result.out());
        assertEquals(0, result.code());
    }

    @Test
    void withoutAManagerThereIsNobodyToAsk() throws Exception {
        Path nobody = Files.createDirectory(folder.resolve("nobody"));
        kit.environment.put("TESSERA_RUNTIME_DIR", nobody.toString());
        Files.writeString(nobody.resolve("placement"), "spread\n");
        assertEquals("unset", device("--no-manager"));
        assertEquals(new Result(3, "", "tessera: --device auto: no manager runs, and --no-manager starts none: there is nobody to ask\n"),
                run("--no-manager", "--device", "auto"));
    }

    @Test
    void aProgramWithoutTheLibraryIsNotPlaced() throws Exception {
        managerPlaces();
        kit.environment.put("TESSERA_DISABLE", "1");
        assertEquals("unset", device("--device", "auto"));
    }

    @Test
    void theLastDeviceCounts() throws Exception {
        assertEquals("1", device("--device", "auto", "--device", "1"));
        asked = 1;
        assertEquals("GPU-7", device("--device", "1", "--device", "auto"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "0,1", "10", "-1", "GPU-1-2", "GPU-8a,0", "MIG-1/2/3", "MIG-GPU-1/2/3"})
    void whatNamesDevicesIsHandedOn(String list) throws Exception {
        assertEquals(list, device("--device", list));
    }

    @ParameterizedTest
    @CsvSource({"foo", "all", "automatic", "AUTO", "none", "0x1", "GPU-", "GPU", "'auto,0'", "'0,auto'", "'0,,1'", "'0,'", "','", "1-2", "' '",
            "'0, 1'"})
    void otherWordsAreRefused(String word) throws Exception {
        Result result = run("--device", word);
        assertEquals(2, result.code());
        assertEquals("tessera: --device '" + word + "': a list of ordinals (0,1) or UUIDs (GPU-...), or auto: one that the manager chooses\n"
                + "See: tessera help run\n", result.err());
    }
}

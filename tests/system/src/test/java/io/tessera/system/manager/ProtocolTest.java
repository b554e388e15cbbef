package io.tessera.system.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.SeededRandom;
import io.tessera.system.TestRun;
import java.io.IOException;
import java.nio.file.Files;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Peers that violate the protocol, on both sides. No process hangs or crashes, and the user gets one line. */
@ExtendWith(RunWatcher.class)
class ProtocolTest {
    private static RunningProgram fakeManager(TestRun run, String mode, long seed) {
        try {
            Files.createDirectories(run.runtimeDirectory());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return run.program("fake_manager", run.runtimeDirectory().toString(), mode, Long.toString(seed))
                .without("LD_PRELOAD").start().awaitLine("listening");
    }

    /** The program runs natively, and the library says once why. */
    @ParameterizedTest
    @CsvSource({"close-at-once, 'closed the connection|no answer'", "close-after-hello, closed the connection",
            "silent, no answer from the manager", "refuse, this manager is older than you",
            "version, something else than version", "short-welcome, something else than version",
            "no-descriptor, sent no segment", "small-segment, ''", "segment-magic, ''", "segment-version, ''",
            "segment-unfinished, ''", "segment-slots, ''", "segment-bytes, ''"})
    void clientOfABrokenManagerRunsNatively(String mode, String reason, TestRun run) {
        run.expectLine("running without turns");
        try (RunningProgram _ = fakeManager(run, mode, 1)) {
            ProgramResult result = run.program("worker", "ms=300", "kernel_us=200").env("TESSERA_MANAGER_TIMEOUT_MS", timeout(mode))
                    .run().exits(0);
            assertEquals(1, result.libraryLines().size(), result::toString);
            assertTrue(Pattern.compile(reason).matcher(result.libraryLines().getFirst()).find(), result::toString);
        }
    }

    /** Returns the timeout of a mode: it is only short for modes in which the answer never comes. */
    private static String timeout(String mode) {
        return mode.equals("silent") ? "1000" : "30000";
    }

    /** Library and executor of different releases: the program makes no calls, and does not fall back to a context of its own. */
    @ParameterizedTest
    @CsvSource({"good-relay-older, another version of the relay", "good-relay-newer, another version of the relay",
            "good-relay-shape, a segment of another shape", "good-relay-entries, another list of driver entries",
            "good-relay-size, a segment of another size"})
    void clientOfAnExecutorOfAnotherReleaseIsRefused(String mode, String reason, TestRun run) {
        run.expectLine(reason + ": with --share space CUDA is refused");
        try (RunningProgram manager = fakeManager(run, mode, 1)) {
            RunningProgram program = run.program("console").env("TESSERA_SHARE", "space").start();
            program.awaitAnswer("init", "error 802").quit();
            manager.awaitLine("hello").awaitLine("left");
        }
    }

    @Test
    void requiredManagerThatIsBrokenMakesInitFail(TestRun run) {
        run.expectLine("TESSERA_REQUIRE is set: CUDA is refused");
        try (RunningProgram _ = fakeManager(run, "refuse", 1)) {
            RunningProgram program = run.program("console").env("TESSERA_REQUIRE", "1").start();
            program.awaitAnswer("init", "error 802").quit();
        }
    }

    /** Random bytes instead of an answer, with many seeds in one test. */
    @Test
    void rubbishInsteadOfAnAnswerIsRefused(TestRun run) {
        SeededRandom random = new SeededRandom("rubbishInsteadOfAnAnswerIsRefused");
        run.expectLine("running without turns");
        try (RunningProgram _ = fakeManager(run, "rubbish", random.below(1 << 30))) {
            for (int i = 0; i < 25; i++) {
                ProgramResult result = run.program("linked").run().exits(0).says("roundtrip");
                assertEquals(1, result.libraryLines().size(), result::toString);
            }
        }
    }

    /** A manager that begins correctly, and then sends random bytes or words, closes the connection, never opens the gate, or becomes silent. */
    @ParameterizedTest
    @ValueSource(strings = {"good", "good-closed", "good-then-close", "good-then-rubbish", "good-rubbish-words"})
    void clientOutlivesAManagerThatTurnsBad(String mode, TestRun run) {
        SeededRandom random = new SeededRandom("clientOutlivesAManagerThatTurnsBad " + mode);
        run.expectLine("running without turns");
        run.expectLine("manager");
        try (RunningProgram _ = fakeManager(run, mode, random.below(1 << 30))) {
            ProgramResult result = run.program("worker", "ms=0", "iterations=300", "kernel_us=100")
                    .env("TESSERA_MANAGER_TIMEOUT_MS", "400").start().end(Await.PATIENCE).exits(0)
                    .says("done 300");
            assertTrue(result.libraryLines().size() <= 60, result::toString);
        }
    }

    @ParameterizedTest
    @CsvSource({"old-version, refused 1", "new-version, refused 1", "magic, refused 2", "length, refused 2",
            "short, refused 2", "empty, refused 2", "type, refused 2", "device-first, refused 2",
            "device-range, refused 2", "twice, refused 2"})
    void managerRefusesABrokenClientAndNobodyElse(String mode, String answer, TestRun run) {
        run.expectLog("a connection was ended|refused|other errors of connections of user");
        ManagerProcess manager = run.sharedManager("--mode", "on");
        RunningProgram bystander = run.program("worker", "ms=0").start().awaitLine("ready");
        ProgramResult result = raw(run, mode, 1).exits(0);
        assertTrue(result.output().stream().anyMatch(line -> line.startsWith(answer)), result::toString);
        assertEquals("closed", result.output().getLast(), result::toString);
        assertTrue(bystander.process().isAlive());
        assertEquals(bystander.pid(), manager.control().client(bystander.pid()).get("pid").getAsLong());
        bystander.kill();
    }

    @Test
    void segmentIsPrivateToTheClientsUser(TestRun run) {
        run.sharedManager();
        raw(run, "good", 1).exits(0).says("welcome").says("segment");
    }

    @Test
    void floodOfRandomPacketsTouchesNobodyElse(TestRun run) {
        SeededRandom random = new SeededRandom("floodOfRandomPacketsTouchesNobodyElse");
        run.expectLog("a connection was ended|refused|other errors of connections of user");
        ManagerProcess manager = run.manager("--mode", "on", "--quantum", "20ms");
        RunningProgram a = run.program("worker", "ms=0").tenant("a").start().awaitLine("ready");
        RunningProgram b = run.program("worker", "ms=0").tenant("b").start().awaitLine("ready");
        long begin = run.witness().executed(a.pid(), 0);
        for (int i = 0; i < 40; i++) {
            raw(run, "flood", random.below(1 << 30)).exits(0);
        }
        assertTrue(run.witness().executed(a.pid(), 0) > begin + 10);
        assertEquals(2, manager.control().clients().size());
        assertEquals(0, run.witness().overlaps(0));
        a.kill();
        b.kill();
    }

    @Test
    void rubbishOnTheControlSocketIsAnswered(TestRun run) {
        ManagerProcess manager = run.sharedManager();
        for (String line : new String[] {"rubbish", "{}", "{\"request\":7}", "{\"request\":\"nothing\"}",
                "{\"request\":\"scheduler\",\"mode\":\"sideways\"}", "{\"request\":\"quantum\",\"ns\":-1}",
                "{\"request\":\"quantum\",\"ns\":\"soon\"}", "[1,2,3]", "\"" + "x".repeat(100_000) + "\""}) {
            assertFalse(manager.control().request(line).get("ok").getAsBoolean(), line);
        }
        assertTrue(manager.control().okay("{\"request\":\"ping\"}").get("ok").getAsBoolean());
    }

    private static ProgramResult raw(TestRun run, String mode, long seed) {
        return run.program("raw_client", run.runtimeDirectory().resolve("manager.sock").toString(), mode,
                Long.toString(seed)).without("LD_PRELOAD").run();
    }
}

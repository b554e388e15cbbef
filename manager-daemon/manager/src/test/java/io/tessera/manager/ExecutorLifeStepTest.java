package io.tessera.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.memory.InMemoryClient;
import io.tessera.manager.memory.RecordingLauncher.Started;
import io.tessera.manager.memory.SteppedManager;
import io.tessera.os.Activity;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Executors that become silent, that a former manager has left, and that end with everything, step by step. */
@Timeout(180)
class ExecutorLifeStepTest extends ExecutorSteps {
    private String status() {
        try {
            InMemoryClient control = stepped.control(0).sendRaw("{\"request\":\"status\"}\n".getBytes());
            stepped.step();
            return control.heardText();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private void silent(int quarters) throws Exception {
        for (int i = 0; i < quarters; i++) {
            stepped.stepAfterMs(250);
        }
    }

    private void ready() throws Exception {
        stepped = new SteppedManager();
        asking(42);
        executor(0).ready(1);
        stepped.step();
    }

    @Test
    void oneThatWasStoppedIsReplacedAfterASecond() throws Exception {
        ready();
        stepped.linux.activity = new Activity(true, false, 5);
        silent(3);
        assertFalse(executor(0).stopped);
        silent(3);
        assertTrue(executor(0).stopped);
        stepped.linux.activity = new Activity(false, true, 5);
        silent(2);
        assertEquals(2, stepped.launcher.started.size());
        executor(1).ready(1);
        stepped.step();
        assertEquals(List.of("relay 0 of 1 "), asking(43).heard());
    }

    @Test
    void oneThatWasKilledBeforeItWasReadyIsStartedAgain() throws Exception {
        stepped = new SteppedManager();
        InMemoryClient asking = asking(42);
        executor(0).dies();
        stepped.step();
        assertEquals(List.of(), asking.heard());
        stepped.stepAfterMs(300);
        executor(1).ready(1);
        stepped.step();
        assertEquals(List.of("relay 0 of 1 "), asking.heard());
    }

    @Test
    void oneThatEndsThreeTimesBeforeItIsReadyIsNotStartedAgain() throws Exception {
        stepped = new SteppedManager();
        InMemoryClient asking = asking(42);
        for (int start = 0; start < 3; start++) {
            executor(start).dies();
            stepped.step();
            stepped.stepAfterMs(600);
        }
        assertEquals(3, stepped.launcher.started.size());
        assertEquals(List.of("relay 0 of 0 it ended with code 1"), asking.heard());
    }

    @Test
    void oneOfWhichNothingRunsIsReplacedToo() throws Exception {
        ready();
        stepped.linux.activity = new Activity(false, false, 5);
        silent(8);
        assertTrue(executor(0).stopped);
    }

    @Test
    void oneThatHasNoProcessorIsWaitedForFor30Seconds() throws Exception {
        ready();
        stepped.linux.activity = new Activity(false, true, 5);
        silent(4 * 29);
        assertFalse(executor(0).stopped);
        silent(6);
        assertTrue(executor(0).stopped);
    }

    @Test
    void oneThatHadTheProcessorAndSaysNothingIsReplaced() throws Exception {
        ready();
        for (int s = 0; s < 20 && !executor(0).stopped; s++) {
            stepped.linux.activity = new Activity(false, true, 5 + 100L * s);
            silent(4);
        }
        assertTrue(executor(0).stopped);
    }

    @Test
    void silenceDoesNotCountWhileTheManagerItselfDidNotRun() throws Exception {
        ready();
        stepped.linux.activity = new Activity(false, true, 5);
        for (int i = 0; i < 10; i++) {
            stepped.stepAfterMs(20_000);
        }
        assertFalse(executor(0).stopped);
    }

    private static Started living(int ordinal) {
        return new Started(ordinal);
    }

    @Test
    void whatAFormerManagerLeftIsTakenOverWithItsLimits() throws Exception {
        Started left = living(0);
        stepped = new SteppedManager(0, context -> context, null, Map.of(0, left));
        left.says("{\"executor\":{\"version\":3}}");
        left.says("{\"limit\":{\"tenant\":\"team of user 500\",\"limitBytes\":4096}}");
        InMemoryClient early = asking(42);
        assertEquals(List.of(), early.heard(), "it has not said yet that it is ready");
        left.ready(1);
        left.says("{\"stats\":{\"clients\":[{\"client\":9,\"pid\":42,\"tenant\":\"team\",\"usedBytes\":77,\"calls\":5,"
                + "\"launches\":6,\"records\":11,\"rejected\":0}]}}");
        stepped.step();
        assertEquals(List.of("relay 0 of 1 "), early.heard());
        assertTrue(stepped.launcher.started.isEmpty(), "nothing is started beside it");
        assertEquals(4096, left.told.getLast().getAsJsonObject("admit").get("limitBytes").getAsLong());
        assertTrue(status().contains("\"clients\":[{\"client\":1,\"pid\":42,"), this::status);
        stepped.close();
        assertTrue(left.parted);
        assertFalse(left.stopped);
        assertTrue(left.told.getLast().has("leave"), () -> left.told.toString());
    }

    @Test
    void aLimitThatIsSetNowCountsMoreThanWhatAnExecutorSays() throws Exception {
        Started left = living(0);
        stepped = new SteppedManager(0, context -> context, null, Map.of(0, left));
        InMemoryClient control = stepped.control(0)
                .sendRaw("{\"request\":\"limit\",\"ahead\":true,\"tenant\":\"team\",\"bytes\":1}\n".getBytes());
        stepped.step();
        assertEquals("{\"ok\":true}\n", control.heardText());
        left.says("{\"executor\":{\"version\":3}}");
        left.says("{\"limit\":{\"tenant\":\"team\",\"limitBytes\":4096}}");
        left.ready(1);
        stepped.step();
        assertEquals(1, left.told.getLast().getAsJsonObject("limit").get("limitBytes").getAsLong(), "it is told");
    }

    @Test
    void oneOfAnotherVersionIsLeftAloneAndThatIsSaid() throws Exception {
        Started left = living(0);
        stepped = new SteppedManager(0, context -> context, null, Map.of(0, left));
        InMemoryClient waiting = asking(42);
        left.says("{\"executor\":{\"version\":77}}");
        left.ready(1);
        stepped.step();
        String told = waiting.heard().getFirst();
        assertTrue(told.contains("is of another version of Tessera (protocol 77) and is left alone"), told);
        assertTrue(status().contains("\"state\":\"foreign\""), this::status);
        silent(200);
        assertFalse(left.stopped);
        assertEquals(List.of(), left.told);
        assertTrue(stepped.launcher.started.isEmpty());
        left.dies();
        stepped.launcher.living.clear();
        stepped.stepAfterMs(1000);
        asking(43);
        assertEquals(1, stepped.launcher.started.size(), "its place is free");
        executor(0).dies(); // another process has connected to it
        stepped.step();
        stepped.launcher.living.put(0, living(0));
        stepped.stepAfterMs(1000);
        InMemoryClient later = asking(44);
        assertEquals(1, stepped.launcher.started.size(), "what lives is taken over in place of a start");
        stepped.launcher.living.get(0).says("{\"executor\":{\"version\":3}}");
        stepped.launcher.living.get(0).ready(1);
        stepped.step();
        assertEquals(List.of("relay 0 of 1 "), later.heard());
    }

    @Test
    void stoppedWithItsProgramsItEndsThemThenTheExecutorsThenItself() throws Exception {
        ready();
        InMemoryClient turns = stepped.client(50);
        InMemoryClient control = stepped.control(0).sendRaw("{\"request\":\"stop\",\"programs\":true}\n".getBytes());
        stepped.step();
        assertEquals("{\"ok\":true}\n", control.heardText());
        assertEquals(List.of(15), turns.signals);
        assertTrue(executor(0).told.stream().noneMatch(line -> line.has("stop")), "programs first");
        stepped.stepAfterMs(2100);
        assertEquals(List.of(15, 9), turns.signals);
        stepped.stepAfterMs(3000);
        assertTrue(executor(0).told.getLast().has("stop"));
        assertFalse(stepped.manager.isStopping());
        executor(0).dies();
        stepped.stepAfterMs(100);
        assertTrue(stepped.manager.isStopping());
    }
}

package io.tessera.system.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.NvccCompiler;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import io.tessera.testing.BuildOutputs;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Programs that share the software GPU by space: a wrong action of one is an error of that one only, and the other's results stay right. */
@Tag("nvcc")
@ExtendWith(RunWatcher.class)
class NeighboursTest {
    private static final Duration BOUND = Duration.ofSeconds(90);
    private static final Path SOURCE = BuildOutputs.root().resolve("tests/programs/fenced/neighbours.cu");

    @TempDir
    static Path folder;

    @BeforeAll
    static void compile() throws IOException {
        NvccCompiler.find(folder).run("-std=c++17", "-arch=compute_75", "-code=compute_75", "-cudart", "shared", "-o",
                "neighbours", SOURCE.toString());
    }

    private static RunningProgram start(TestRun run, String tenant, String options, String... role) {
        String[] command = Stream.of(Stream.of(BuildOutputs.root().resolve("tools/tessera").toString(), "run", "--share",
                "space", "--runtime", "tessera", "--name", tenant), Stream.of(options.split(" ")),
                Stream.of("--", folder.resolve("neighbours").toString()), Stream.of(role))
                .flatMap(part -> part).filter(part -> !part.isEmpty()).toArray(String[]::new);
        return run.command(command).without("LD_PRELOAD").without("LD_LIBRARY_PATH").without("TESSERA_DRIVER").start();
    }

    private static JsonObject executor(ManagerProcess manager) {
        return manager.control().status().getAsJsonArray("executors").get(0).getAsJsonObject();
    }

    /** Returns a tenant's window. While the executor warms up, it also has a window of its own. */
    private static Optional<JsonObject> window(JsonObject executor, String tenant) {
        return !executor.has("windows") ? Optional.empty() : executor.getAsJsonArray("windows").asList().stream()
                .map(window -> window.getAsJsonObject())
                .filter(window -> window.get("tenant").getAsString().equals(tenant)).findFirst();
    }

    private static void endsRight(RunningProgram victim) {
        victim.tell("");
        ProgramResult result = victim.end(BOUND).exits(0);
        assertEquals("right", result.output().getLast(), result::toString);
        assertEquals(List.of(), result.errors());
    }

    /** A wrong program: its action, its options of `run`, CUDA's error, and the line that says why. */
    private record Offence(String role, String options, String error, String line) {
    }

    private static final List<Offence> OFFENCES = List.of(
            new Offence("trap", "", "cudaErrorLaunchFailure", "kernel .*trap|more of the kind"),
            new Offence("assert", "", "cudaErrorAssert", "Assertion `value == 3` failed"),
            new Offence("store 3000000000", "--fence check", "cudaErrorIllegalAddress", "outside the tenant's memory"),
            new Offence("store -1000000000", "--fence check", "cudaErrorIllegalAddress", "outside the tenant's memory"),
            new Offence("spin", "--kernel-timeout 2", "cudaErrorLaunchTimeout", "did not end in time and is ended; the last launches were: .*spin"),
            new Offence("spin-in-graph", "--kernel-timeout 2", "cudaErrorLaunchTimeout",
                    "did not end in time and is ended; all launches were of graphs"));

    @Test
    void whatOneDoesWrongIsItsOwnError(TestRun run) {
        ManagerProcess manager = run.sharedManager("--executors", "software");
        RunningProgram victim = start(run, "victim", "", "compute");
        victim.awaitLine("ready");
        long pid = executor(manager).get("pid").getAsLong();
        for (Offence offence : OFFENCES) {
            run.expectClientError("is not supported|" + offence.line);
            run.expectLine(offence.line);
            ProgramResult offender = start(run, "offender", offence.options, offence.role.split(" ")).end(BOUND).exits(0);
            assertEquals(List.of(offence.error, "then " + offence.error), offender.output(), offender::toString);
            assertTrue(offender.errors().stream().anyMatch(said -> said.matches(".*(" + offence.line + ").*")),
                    offender::toString);
            assertTrue(victim.process().isAlive(), () -> offence + " ended its neighbour: " + victim.errors());
        }
        endsRight(victim);
        assertEquals(pid, executor(manager).get("pid").getAsLong(), "the executor was restarted");
        assertEquals(0, executor(manager).get("restarts").getAsLong());
    }

    @Test
    void whatIsForcedIntoTheWindowDisturbsNobody(TestRun run) {
        ManagerProcess manager = run.sharedManager("--executors", "software");
        run.expectClientError("is not supported");
        RunningProgram victim = start(run, "victim", "", "compute");
        victim.awaitLine("ready");
        String line = "a kernel of this program wrote outside of its memory; the last launches were: .*store.*; --fence check names";
        for (String index : List.of("1000000000", "-1000000000", "4000000000", "-70000000000")) {
            run.expectClientError(line);
            run.expectLine(line);
            ProgramResult offender = start(run, "offender", "--fence mask", "store", index).end(BOUND).exits(0);
            assertEquals(List.of("cudaErrorIllegalAddress", "then cudaErrorIllegalAddress"), offender.output(), offender::toString);
            assertTrue(offender.errors().stream().anyMatch(said -> said.matches(".*" + line + ".*")), offender::toString);
            assertTrue(victim.process().isAlive(), () -> index + " ended its neighbour: " + victim.errors());
        }
        endsRight(victim);
        assertEquals(0, executor(manager).get("restarts").getAsLong());
    }

    private static final String STRAY_OF_ONE = "a kernel of this program wrote outside of its memory; the last launches were: ";
    private static final String STRAY_OF_SEVERAL = "a kernel of this program, or of another one with its --name, wrote outside of its memory";

    @Test
    void aProgramThatWaitsGetsNoErrorForWhatAnotherOneOfItsNameWrote(TestRun run) throws InterruptedException {
        run.sharedManager("--executors", "software");
        run.expectClientError("is not supported|" + STRAY_OF_SEVERAL);
        run.expectLine(STRAY_OF_SEVERAL);
        RunningProgram offender = start(run, "both", "--fence mask --fence-alone", "leave", "1000000000");
        offender.awaitLine("ready");
        RunningProgram victim = start(run, "both", "--fence mask --fence-alone", "hold");
        victim.awaitLine("waits");
        Thread.sleep(300); // its check comes after the wait
        offender.tell("");
        offender.awaitLine("stored");
        Thread.sleep(300); // the offender's write is in the sink by now
        victim.tell("");
        ProgramResult result = victim.end(BOUND).exits(0);
        assertEquals("cudaSuccess", result.output().getLast(), result::toString);
        offender.tell("");
        offender.end(BOUND).exits(0);
    }

    @Test
    void aProgramThatEndsRightAfterAStrayWriteSaysSo(TestRun run) {
        run.sharedManager("--executors", "software");
        run.expectClientError("is not supported|" + STRAY_OF_ONE);
        run.expectLine(STRAY_OF_ONE);
        for (String role : List.of("train", "leave")) {
            RunningProgram offender = start(run, "offender", "--fence mask --fence-alone", role, "1000000000");
            offender.tell("");
            offender.tell("");
            ProgramResult result = offender.end(BOUND).exits(0);
            assertTrue(result.errors().stream().anyMatch(said -> said.contains(STRAY_OF_ONE)), result::toString);
        }
    }

    @Test
    void oneThatIsKilledInTheMiddleOfAnEndlessKernelHoldsNobodyUp(TestRun run) {
        ManagerProcess manager = run.sharedManager("--executors", "software");
        run.expectClientError("is not supported");
        RunningProgram victim = start(run, "victim", "", "compute");
        victim.awaitLine("ready");
        RunningProgram offender = start(run, "offender", "", "spin");
        Await.until("the endless kernel is launched", BOUND, () -> executor(manager).getAsJsonArray("clients").asList()
                .stream().filter(client -> client.getAsJsonObject().get("launches").getAsLong() == 1).count() == 1,
                () -> executor(manager).toString());
        offender.kill();
        Await.until("what it had is freed", BOUND, () -> {
            JsonObject executor = executor(manager);
            return window(executor, "offender").isEmpty() && window(executor, "victim").isPresent();
        }, () -> executor(manager).toString());
        endsRight(victim);
        assertEquals(0, executor(manager).get("restarts").getAsLong());
    }

    @Test
    void theStatusShowsWindowsAndFences(TestRun run) {
        ManagerProcess manager = run.sharedManager("--executors", "software");
        run.expectClientError("is not supported");
        RunningProgram first = start(run, "first", "--fence check", "compute");
        first.awaitLine("ready");
        Await.until("the status", BOUND, () -> {
            JsonObject executor = executor(manager);
            return executor.getAsJsonArray("clients").size() == 1
                    && executor.getAsJsonArray("clients").get(0).getAsJsonObject().has("fence")
                    && window(executor, "first").filter(its -> its.get("committedBytes").getAsLong() > 0).isPresent();
        }, () -> executor(manager).toString());
        JsonObject client = executor(manager).getAsJsonArray("clients").get(0).getAsJsonObject();
        assertEquals("check", client.get("fence").getAsString());
        assertEquals(0, client.get("unfenced").getAsLong());
        endsRight(first);
    }
}

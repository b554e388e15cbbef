package io.tessera.system.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.CubinBuilder;
import io.tessera.guardian.trust.TrustList;
import io.tessera.guardian.trust.TrustedImage;
import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.OtherUser;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.LocalDate;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Programs of root and of another user whose kernels are machine code, and which of them run beside each other by default. */
@ExtendWith(RunWatcher.class)
class MachineCodeOfUsersTest {
    private static final Duration BOUND = Duration.ofSeconds(90);
    private static final String REFUSED = "error 209";
    private static final byte[] CODE = CubinBuilder.of("plain", new CodeWords().load(12, 2).exit())
            .kernel("returns", 29, new CodeWords().move(20, 0x20).call(3).exit().returnBy(20)).build();

    private static Path image(TestRun run) throws IOException {
        Path file = run.directory().resolve("code.cubin");
        Files.write(file, CODE);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        return file;
    }

    private static RunningProgram ofRoot(TestRun run, Path image) {
        return run.program("relay_machine", image.toString()).env("TESSERA_SHARE", "space").tenant("roots").start().awaitLine("ready");
    }

    private static RunningProgram of(OtherUser other, Path image) {
        return other.program("others", "relay_machine", image.toString()).start();
    }

    private static void awaitImages(ManagerProcess manager, String field, int programs) {
        Await.until(programs + " programs have an image that is " + field, BOUND, () -> {
            int found = 0;
            for (JsonElement client : executor(manager).getAsJsonArray("clients")) {
                JsonElement images = client.getAsJsonObject().get(field); // a program that has just connected has none yet
                found += images != null && images.getAsInt() == 1 ? 1 : 0;
            }
            return found == programs;
        }, () -> manager.control().status().toString());
    }

    private static JsonObject executor(ManagerProcess manager) {
        return manager.control().status().getAsJsonArray("executors").get(0).getAsJsonObject();
    }

    private static Set<Integer> users(ManagerProcess manager) {
        Set<Integer> users = new TreeSet<>();
        executor(manager).getAsJsonArray("clients").forEach(client -> users.add(client.getAsJsonObject().get("uid").getAsInt()));
        return users;
    }

    private static void awaitUsers(ManagerProcess manager, Set<Integer> users) {
        Await.until("the executor has programs of " + users, BOUND, () -> users(manager).equals(users), () -> manager.control().status().toString());
    }

    @Test
    void whatStaysInItsMemoryRunsBesideAnotherUserAndNothingElse(TestRun run) throws IOException {
        OtherUser other = OtherUser.of(run);
        run.expectLine("may leave its program's memory");
        run.expectClientError("may leave its program's memory|another user's program runs machine code");
        run.expectLine("another user's program runs machine code that may leave its memory");
        run.expectLog("may leave its program's memory|another user's program");
        ManagerProcess manager = run.manager("--executors", "nvidia");
        Path image = image(run);
        RunningProgram roots = ofRoot(run, image);
        RunningProgram others = of(other, image).awaitLine("ready");
        awaitUsers(manager, Set.of(0, OtherUser.UID));
        for (RunningProgram program : List.of(roots, others)) {
            program.awaitAnswer("plain", "ok").awaitAnswer("returns", REFUSED).awaitAnswer("plain", "ok");
        }
        assertTrue(
                roots.errors().stream().anyMatch(
                        line -> line.contains("kernel returns may leave its program's memory: not all of it is shown to stay there (a RET")),
                () -> roots.errors().toString());
        awaitImages(manager, "shown", 2);
        others.quit().exits(0);
        awaitUsers(manager, Set.of(0));
        roots.awaitAnswer("returns", "ok");
        awaitImages(manager, "unknown", 1);
        ProgramResult late = of(other, image).end(BOUND);
        assertEquals(1, late.exit(), late::toString);
        assertTrue(late.errors().stream().anyMatch(line -> line.contains("or have it run with --unfenced time")), late::toString);
        roots.awaitAnswer("unload", "ok");
        RunningProgram again = of(other, image).awaitLine("ready");
        again.awaitAnswer("plain", "ok");
        again.quit().exits(0);
        roots.quit().exits(0);
    }

    /** The list of trusted images is that of the user who runs the manager, here root. */
    @Test
    void whatRootHasNamedRunsBesideEverybody(TestRun run) throws IOException {
        OtherUser other = OtherUser.of(run);
        TrustedImage trusted = new TrustedImage(ModuleImage.of(CODE).hash(), LocalDate.EPOCH, "of the test");
        TrustList.empty().with(List.of(trusted)).write(run.directory().resolve("state/trusted"));
        ManagerProcess manager = run.manager("--executors", "nvidia");
        Path image = image(run);
        RunningProgram roots = ofRoot(run, image);
        RunningProgram others = of(other, image).awaitLine("ready");
        awaitUsers(manager, Set.of(0, OtherUser.UID));
        for (RunningProgram program : List.of(roots, others)) {
            program.awaitAnswer("returns", "ok");
        }
        awaitImages(manager, "vendors", 2);
        others.quit().exits(0);
        roots.quit().exits(0);
    }
}

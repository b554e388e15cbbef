package io.tessera.manager.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.Manager;
import io.tessera.manager.ManagerContext;
import io.tessera.manager.client.ControlQuery;
import io.tessera.manager.memory.InMemoryClient;
import io.tessera.manager.memory.SteppedManager;
import io.tessera.protocol.MemoryPlan;
import io.tessera.protocol.RuntimeDirectory;
import io.tessera.protocol.message.FenceWish;
import io.tessera.protocol.message.Hello;
import io.tessera.protocol.message.MessageEncoder;
import io.tessera.protocol.message.RelayMessageEncoder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A manager whose file of settings comes, changes, breaks and goes. The manager's user is the test's, who owns the file. */
@Timeout(120)
class SettingsWatchTest {
    @TempDir
    private Path folder;
    private SteppedManager stepped;
    private InMemoryClient control;

    private Path file() {
        return folder.resolve("tessera.toml");
    }

    private void write(String text) throws IOException {
        Files.deleteIfExists(file());
        Files.writeString(file(), text);
        Files.setPosixFilePermissions(file(), PosixFilePermissions.fromString("rw-r--r--"));
    }

    private void start() throws IOException {
        int uid = (int) Files.getAttribute(folder, "unix:uid");
        stepped = new SteppedManager(uid, context -> context.withSettings(file()));
        control = stepped.control(0);
    }

    @AfterEach
    void end() {
        stepped.close();
    }

    private String say(String request) throws Exception {
        control.sendRaw((request + "\n").getBytes(StandardCharsets.UTF_8));
        stepped.step();
        return control.heardText();
    }

    /** Live: neither a restart nor a command is needed. */
    @Test
    void placementAndClientsAtOnceFollowTheFile() throws Exception {
        String tenant = "[tenant.team]\nclients = %d\n[tenant.\"team of user 500\"]\nclients = %1$d\n";
        write("placement = \"spread\"\n" + tenant.formatted(1));
        start();
        assertTrue(statusAfterALook().contains("\"placement\":\"spread\""));
        assertEquals(List.of(true, false), List.of(isWelcome(1), isWelcome(2)));
        write("placement = \"pack\"\n" + tenant.formatted(2));
        assertTrue(statusAfterALook().contains("\"placement\":\"pack\""));
        assertEquals(List.of(true, false), List.of(isWelcome(3), isWelcome(4)));
        write("placement = \"best\"\n");
        assertTrue(statusAfterALook().contains("\"placement\":\"pack\""), "what it said before holds");
        assertFalse(isWelcome(5));
        Files.delete(file());
        assertTrue(statusAfterALook().contains("\"placement\":\"none\""));
        assertTrue(isWelcome(6));
    }

    private boolean isWelcome(int pid) throws Exception {
        InMemoryClient peer = stepped.connect(pid, 0).hello("team", 0);
        stepped.step();
        return peer.heard().getFirst().startsWith("welcome");
    }

    private String statusAfterALook() throws Exception {
        stepped.stepAfterMs(1_100);
        return say("{\"request\":\"status\"}");
    }

    @Test
    void theFileHoldsFromTheStartAndItsChangesFromTheNextLookOn() throws Exception {
        write("policy = \"fair\"\n[tenant.team]\nweight = 3\n[tenant.\"team of user 500\"]\nweight = 4\n");
        start();
        stepped.client(42, "team", 0);
        String status = statusAfterALook();
        assertTrue(status.contains("\"policy\":\"fair\"") && status.contains("\"weight\":4,"), status);
        write("policy = \"credit\"\n[device.\"" + SteppedManager.GPU + "\"]\nquantum = \"70ms\"\n");
        status = statusAfterALook();
        assertTrue(status.contains("\"policy\":\"credit\"") && status.contains("\"quantumNs\":70000000") && !status.contains("\"terms\""), status);
        Files.delete(file());
        assertTrue(statusAfterALook().contains("\"policy\":\"credit\""), "without a file policy and quantum stay");
    }

    @Test
    void aWrongFileChangesNothingAndIsSaidInTheStatus() throws Exception {
        write("[tenant.\"team of user 500\"]\nweight = 4\n");
        start();
        stepped.client(42, "team", 0);
        write("[tenant.\"team of user 500\"]\nwieght = 5\n");
        String status = statusAfterALook();
        assertTrue(status.contains("\"weight\":4,"), status);
        assertTrue(status.contains("\"settingsProblem\":\"line 2, tenant.team of user 500.wieght: there is no such key here"), status);
        write("[tenant.\"team of user 500\"]\nweight = 5\n");
        status = statusAfterALook();
        assertTrue(status.contains("\"weight\":5,") && !status.contains("settingsProblem"), status);
    }

    @Test
    void aFileThatOthersCanWriteIsNotTrusted() throws Exception {
        write("policy = \"fair\"\n");
        Files.setPosixFilePermissions(file(), PosixFilePermissions.fromString("rw-rw-rw-"));
        start();
        stepped.client(42);
        String status = statusAfterALook();
        assertTrue(status.contains("\"policy\":\"round-robin\"") && status.contains("others must not be able to write to it"), status);
        Files.setPosixFilePermissions(file(), PosixFilePermissions.fromString("rw-r--r--"));
        assertTrue(statusAfterALook().contains("\"policy\":\"fair\""));
    }

    @Test
    void whatIsNoFileOrTooLargeOrNoTextIsSaid() throws Exception {
        Files.createDirectory(file());
        start();
        assertTrue(statusAfterALook().contains("it is no file, or larger than 64 KiB"));
        Files.delete(file());
        assertFalse(statusAfterALook().contains("settingsProblem"));
        write("#" + "x".repeat(1 << 16));
        assertTrue(statusAfterALook().contains("it is no file, or larger than 64 KiB"));
        Files.write(file(), new byte[] {'#', (byte) 0xff, '\n'});
        assertTrue(statusAfterALook().contains("it is no text in UTF-8"));
    }

    @Test
    void aCommandCountsBeforeTheFileUntilItIsReset() throws Exception {
        write("[tenant.\"team of user 500\"]\nweight = 4\n");
        start();
        stepped.client(42, "team", 0);
        stepped.step();
        String tenant = "{\"request\":\"tenant\",\"tenant\":\"team of user 500\"";
        assertTrue(say(tenant + ",\"set\":{\"priority\":2}}").contains("\"weight\":4,\"priority\":2,"));
        write("[tenant.\"team of user 500\"]\nweight = 6\n");
        assertTrue(statusAfterALook().contains("\"weight\":4,\"priority\":2,"));
        assertTrue(say(tenant + ",\"reset\":true}").contains("\"weight\":6,\"priority\":0,"));
    }

    @Test
    void anOrderCountsBeforeTheFileAndADevicesTableBeforeWhatHoldsForAll() throws Exception {
        String table = "[device.\"" + SteppedManager.GPU + "\"]\nmode = \"on\"\n";
        write("mode = \"auto\"\npolicy = \"fair\"\n" + table);
        start();
        stepped.client(42, "team", 0);
        stepped.step();
        assertTrue(say("{\"request\":\"policy\",\"policy\":\"band\"}").contains("\"ok\":true"));
        write("mode = \"off\"\npolicy = \"priority\"\nquantum = \"70ms\"\n" + table);
        String status = statusAfterALook();
        assertTrue(status.contains("\"mode\":\"on\"") && status.contains("\"policy\":\"band\"") && status.contains("\"quantumNs\":70000000"), status);
    }

    @Test
    void aFileThatCouldNotBeLookedAtForAWhileIsReadAgain() throws Exception {
        start();
        Path real = Files.createDirectory(folder.resolve("real"));
        Path link = folder.resolve("link");
        Files.createSymbolicLink(link, real);
        Files.writeString(real.resolve("tessera.toml"), "policy = \"fair\"\n");
        SettingsWatch watch = new SettingsWatch(link.resolve("tessera.toml"), (int) Files.getAttribute(folder, "unix:uid"),
                OrderJournalTest.registry(),
                (tenant, bytes) -> {});
        watch.doWork(0);
        assertEquals("", watch.problem());
        Files.delete(link);
        Files.createSymbolicLink(link, link);
        watch.doWork(watch.nextDeadlineNs());
        assertTrue(watch.problem().startsWith("it cannot be read"), watch.problem());
        Files.delete(link);
        Files.createSymbolicLink(link, real);
        watch.doWork(watch.nextDeadlineNs());
        assertEquals("", watch.problem());
    }

    @Test
    void whoIsNoAdministratorIsNotToldWhatIsWrongWithTheFile() throws Exception {
        write("[tenant.\"team of user 500\"]\nwieght = 5\n");
        start();
        stepped.stepAfterMs(1_100);
        control = stepped.control(501);
        assertFalse(say("{\"request\":\"status\"}").contains("team"));
    }

    /** No turn could end while the owner thread parses. */
    @Test
    void anotherThreadReadsTheFileAndTheOwnerAppliesIt() throws Exception {
        start();
        List<String> limits = new ArrayList<>();
        SettingsWatch watch = new SettingsWatch(file(), (int) Files.getAttribute(folder, "unix:uid"), OrderJournalTest.registry(),
                (tenant, bytes) -> limits.add(tenant + " " + bytes));
        List<Runnable> readings = new ArrayList<>();
        watch.readBy(readings::add);
        write("[tenant.a]\nmemory = \"1KiB\"\n");
        assertEquals(0, watch.doWork(0));
        write("[tenant.a]\nmemory = \"2KiB\"\n"); // the first reading has not begun
        for (long nowNs = watch.nextDeadlineNs(); nowNs < SettingsWatch.LONG_READING_NS; nowNs = watch.nextDeadlineNs()) {
            assertEquals(0, watch.doWork(nowNs));
            assertEquals("", watch.problem());
        }
        watch.doWork(watch.nextDeadlineNs());
        assertEquals("reading it takes longer than 10 s", watch.problem());
        assertEquals(1, readings.size(), "one at a time");
        readings.removeFirst().run();
        assertEquals(List.of(), limits, "the owner applies it");
        assertEquals(1, watch.doWork(watch.nextDeadlineNs()));
        assertEquals(List.of("a 2048"), limits);
        assertEquals("", watch.problem());
        watch.doWork(watch.nextDeadlineNs());
        assertEquals(1, readings.size(), "it has changed since it was seen, and is read again");
        readings.removeFirst().run();
        write("x".repeat(1 << 16));
        watch.doWork(watch.nextDeadlineNs());
        watch.doWork(watch.nextDeadlineNs());
        readings.removeFirst().run();
        watch.doWork(watch.nextDeadlineNs());
        assertTrue(watch.problem().startsWith("line 1"), watch.problem());
        assertEquals(List.of("a 2048"), limits);
    }

    /** A thousand tenants take the parser a while; meanwhile the thread can be seen, and commands are answered. */
    @Test
    void aManagerThatRunsReadsTheFileOnAThreadOfItsOwn() throws Exception {
        start();
        StringBuilder tenants = new StringBuilder();
        for (int i = 0; i < 1_900; i++) {
            tenants.append("[tenant.name-").append(i).append("]\nweight = 3\n");
        }
        RuntimeDirectory paths = new RuntimeDirectory(folder.resolve("run"), folder.resolve("shm"));
        long endNs = System.nanoTime() + 60_000_000_000L;
        long longestNs = 0;
        try (Manager manager = Manager.start(ManagerContext.in(paths).withSettings(file()))) {
            boolean isSeen = false;
            while (!isSeen) {
                assertTrue(System.nanoTime() < endNs, () -> "nothing reads on a thread of its own; " + manager.errors());
                write(tenants.append('\n').toString());
                for (int look = 0; look < 200 && !isSeen; look++) {
                    long askedNs = System.nanoTime();
                    assertEquals("{\"ok\":true}", ControlQuery.ask(paths.controlSocket(), "{\"request\":\"ping\"}"));
                    longestNs = Math.max(longestNs, System.nanoTime() - askedNs);
                    isSeen = Thread.getAllStackTraces().keySet().stream().anyMatch(thread -> thread.getName().equals("tessera-settings"));
                    Thread.sleep(10);
                }
            }
            while (ControlQuery.ask(paths.controlSocket(), "{\"request\":\"tenant\",\"tenant\":\"name-1899\"}").contains("\"weight\":1,")) {
                assertTrue(System.nanoTime() < endNs, "what was read is not applied");
                long askedNs = System.nanoTime();
                assertEquals("{\"ok\":true}", ControlQuery.ask(paths.controlSocket(), "{\"request\":\"ping\"}"));
                longestNs = Math.max(longestNs, System.nanoTime() - askedNs);
                Thread.sleep(10);
            }
        }
        System.out.println("the longest answer while the file was read: " + longestNs / 1_000_000 + " ms");
    }

    @Test
    void limitsOfTheFileAreSetAndTakenBack() throws Exception {
        start();
        List<String> limits = new ArrayList<>();
        SettingsWatch watch = new SettingsWatch(file(), (int) Files.getAttribute(folder, "unix:uid"), OrderJournalTest.registry(),
                (tenant, bytes) -> limits.add(tenant + " " + bytes));
        write("[tenant.a]\nmemory = \"1KiB\"\n[tenant.b]\nmemory = \"2KiB\"\n");
        watch.doWork(0);
        limits.sort(null);
        assertEquals(List.of("a 1024", "b 2048"), limits);
        limits.clear();
        write("[tenant.b]\nmemory = \"3KiB\"\n");
        watch.doWork(watch.nextDeadlineNs());
        assertEquals(List.of("b 3072", "a 0"), limits);
    }

    @Test
    void aLimitOfACommandStaysWhenTheFileSaysNoneAnyMore() throws Exception {
        start();
        List<String> limits = new ArrayList<>();
        SettingsWatch watch = new SettingsWatch(file(), (int) Files.getAttribute(folder, "unix:uid"), OrderJournalTest.registry(),
                (tenant, bytes) -> limits.add(tenant + " " + bytes));
        write("[tenant.a]\nmemory = \"1KiB\"\n[tenant.b]\nmemory = \"2KiB\"\n");
        watch.doWork(0);
        watch.limitOrdered("a");
        watch.limitOrdered("b");
        write("[tenant.b]\nmemory = \"3KiB\"\n");
        watch.doWork(watch.nextDeadlineNs());
        write("");
        limits.clear();
        watch.doWork(watch.nextDeadlineNs());
        assertEquals(List.of("b 0"), limits, "of b the file had the last word");
    }

    @Test
    void aLimitThatACommandHasSetIsNotTheFilesToTakeBack() throws Exception {
        write("[tenant.team]\nmemory = \"1KiB\"\n");
        start();
        stepped.step();
        assertTrue(say("{\"request\":\"limit\",\"tenant\":\"team\",\"bytes\":4096,\"ahead\":true}").contains("\"ok\":true"));
        write("");
        stepped.stepAfterMs(1_100);
        InMemoryClient relayed = stepped.connect(43, 500)
                .send(p -> MessageEncoder.hello(p, new Hello(43, MemoryPlan.RELAY, 5, 0, "team", "train.py")));
        stepped.step();
        relayed.send(p -> RelayMessageEncoder.ask(p, FenceWish.none()));
        stepped.step();
        stepped.launcher.started.getFirst().ready(1);
        stepped.step();
        assertTrue(stepped.launcher.started.getFirst().told.toString().contains("{\"limit\":{\"tenant\":\"team\",\"limitBytes\":4096}}"),
                stepped.launcher.started.getFirst().told::toString);
    }
}

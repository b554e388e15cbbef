package io.tessera.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.client.ControlQuery;
import io.tessera.manager.client.TestClient;
import io.tessera.manager.schedule.SchedulerMode;
import io.tessera.manager.schedule.turn.ScheduleSettings;
import io.tessera.manager.session.ManagerRunningException;
import io.tessera.manager.session.UnsafeDirectoryException;
import io.tessera.os.linux.Linux;
import io.tessera.protocol.MemoryPlan;
import io.tessera.protocol.RuntimeDirectory;
import io.tessera.protocol.message.MessageEncoder;
import io.tessera.protocol.segment.CountersReader;
import io.tessera.protocol.segment.SegmentHeader;
import io.tessera.protocol.segment.SegmentLayout;
import java.io.BufferedReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A manager on its own thread, on the real Linux, with clients on the real socket. */
@Timeout(300)
class RunningManagerTest {
    private static final long MS = 1_000_000L;

    @TempDir
    Path folder;
    private RuntimeDirectory paths;
    private Manager manager;

    @BeforeEach
    void start() throws Exception {
        paths = new RuntimeDirectory(folder.resolve("run"), folder.resolve("shm"));
        manager = Manager.start(context());
    }

    private ManagerContext context() {
        return ManagerContext.in(paths).withMode(SchedulerMode.ON)
                .withSchedule(ScheduleSettings.defaults().withQuantumNs(20 * MS));
    }

    @AfterEach
    void end() throws Exception {
        manager.close();
        assertEquals(null, manager.awaitEnd());
        try (Stream<Path> left = Files.walk(folder)) {
            // If clients still exist at the end of a test, the file that tells the next manager of them remains.
            assertEquals(List.of(), left.filter(Files::isRegularFile).filter(p -> p.toString().contains("run/") && !p.endsWith("run/clients")
                    || p.toString().endsWith(".segment")).toList(), "left behind");
        }
    }

    @Test
    void oneOfTwoClientsRunsAtATimeAndBothRun() throws Exception {
        try (TestClient one = TestClient.onDevice(paths.registrationSocket(), "a");
                TestClient two = TestClient.onDevice(paths.registrationSocket(), "b")) {
            while (one.turns <= 10 || two.turns <= 10) { // bounded by the timeout of the class
                for (TestClient client : List.of(one, two)) {
                    client.pump();
                    if (!client.isOpen() && client.block().wantSinceNs() == 0) {
                        client.want();
                    }
                    assertFalse(one.isOpen() && two.isOpen(), "both gates are open");
                }
                Thread.sleep(0, 100_000);
            }
            String status = ControlQuery.ask(paths.controlSocket(), "{\"request\":\"status\"}");
            assertTrue(status.contains("\"effective\":\"exclusive\""), status);
        }
    }

    @Test
    void theSegmentOfAClientIsReadByMappingItsFile() throws Exception {
        try (TestClient client = TestClient.onDevice(paths.registrationSocket(), "a")) {
            Path file = paths.segment(1);
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
            CountersReader.Result result = CountersReader.open(file);
            try (CountersReader reader = ((CountersReader.Ready) result).reader()) {
                assertTrue(reader.device(0).registered());
                assertEquals(client.block().turn(), reader.device(0).turn());
                assertEquals("a", reader.header().tenant());
                assertEquals(ProcessHandle.current().pid(), reader.header().clientPid());
                assertTrue(reader.header().clientStartTicks() > 0);
                long worstNs;
                int tries = 0;
                do { // repeated if the machine stood still
                    worstNs = worstAge(reader);
                } while (worstNs > 500 * MS && ++tries < 20);
                assertTrue(worstNs <= 500 * MS, "the heartbeat was " + worstNs + " ns old");
            }
        }
    }

    /** Returns the maximum age of the manager's heartbeat within a second. */
    private static long worstAge(CountersReader reader) throws InterruptedException {
        long worstNs = 0;
        long endNs = System.nanoTime() + 1_000 * MS;
        while (System.nanoTime() < endNs) {
            worstNs = Math.max(worstNs, System.nanoTime() - reader.header().managerHeartbeatNs());
            Thread.sleep(5);
        }
        return worstNs;
    }

    @Test
    void theTurnOfAKilledClientIsFreeWithin100Milliseconds() throws Exception {
        Path program = folder.resolve("holder");
        run("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", "../../native-preload/include", "-o",
                program.toString(), "src/test/c/holder.c");
        try (TestClient waiting = TestClient.onDevice(paths.registrationSocket(), "b")) {
            List<Long> tookNs = new ArrayList<>();
            for (int round = 0; round < 5; round++) {
                Process holder = new ProcessBuilder(program.toString(), paths.registrationSocket().toString())
                        .redirectError(ProcessBuilder.Redirect.INHERIT).start();
                try (BufferedReader output = holder.inputReader()) {
                    assertEquals("granted", output.readLine());
                    int turns = waiting.turns;
                    waiting.want();
                    // It holds the turn and does not drain, so only its death frees the turn.
                    Thread.sleep(50);
                    waiting.pump();
                    assertEquals(turns, waiting.turns);
                    long killedNs = System.nanoTime();
                    holder.destroyForcibly();
                    waiting.await("a turn", () -> waiting.turns > turns);
                    tookNs.add(System.nanoTime() - killedNs);
                    waiting.release();
                } finally {
                    holder.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
                }
            }
            tookNs.sort(null); // the longest time is due to the machine
            assertTrue(tookNs.get(tookNs.size() / 2) < 100 * MS, "the turn was free after " + tookNs + " ns");
        }
    }

    @Test
    void aSegmentCutShortByItsOwnerEndsThatClientAlone() throws Exception {
        try (TestClient good = TestClient.onDevice(paths.registrationSocket(), "good");
                TestClient bad = TestClient.onDevice(paths.registrationSocket(), "bad")) {
            assertEquals("welcome 2", bad.heard.getFirst());
            try (FileChannel file = FileChannel.open(paths.segment(2), StandardOpenOption.WRITE)) {
                file.truncate(0);
            }
            // Its own mapping is gone as well: only its socket may be used from here on.
            long deadlineNs = System.nanoTime() + 60_000 * MS;
            while (Files.exists(paths.segment(2))) {
                assertTrue(System.nanoTime() < deadlineNs, "the session does not end");
                Thread.sleep(5);
            }
            good.want();
            good.await("a turn", () -> good.turns > 0);
            assertEquals("{\"ok\":true}", ControlQuery.ask(paths.controlSocket(), "{\"request\":\"ping\"}"));
        }
    }

    /** A request for the status may come before the manager finds the segment broken. */
    @Test
    void aSegmentCutShortIsNoHarmToWhoeverAsksAboutItsOwner() throws Exception {
        List<String> requests = List.of("{\"request\":\"status\"}", "{\"request\":\"evict\",\"tenant\":\"bad\"}",
                "{\"request\":\"evict\",\"tenant\":\"bad\",\"suspend\":true}",
                "{\"request\":\"restore\",\"tenant\":\"bad\"}", "{\"request\":\"scheduler\",\"mode\":\"on\"}");
        for (int i = 0; i < 2 * requests.size(); i++) {
            String request = requests.get(i / 2);
            MemoryPlan plan = i % 2 == 0 ? MemoryPlan.PLAIN : MemoryPlan.SWAP;
            try (TestClient bad = TestClient.onDevice(paths.registrationSocket(), "bad", plan)) {
                assertEquals("welcome " + (i + 1), bad.heard.getFirst());
                try (FileChannel file = FileChannel.open(paths.segment(i + 1), StandardOpenOption.WRITE)) {
                    file.truncate(0);
                }
                String answer = ControlQuery.ask(paths.controlSocket(), request);
                assertTrue(answer != null && answer.startsWith("{\"ok\":"), plan + ", " + request + " answered " + answer);
                assertEquals("{\"ok\":true}", ControlQuery.ask(paths.controlSocket(), "{\"request\":\"ping\"}"));
            }
        }
    }

    @Test
    void noisePacketsNeverHurt() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        MemorySegment packet = MemorySegment.ofArray(new long[64]);
        try (TestClient good = TestClient.onDevice(paths.registrationSocket(), "good")) {
            for (int round = 0; round < 300; round++) {
                List<byte[]> packets = new ArrayList<>();
                for (int i = random.nextInt(6); i >= 0; i--) {
                    packets.add(noise(random, packet));
                }
                try (TestClient bad = new TestClient(paths.registrationSocket())) {
                    if (random.nextBoolean()) {
                        bad.hello("noise");
                    }
                    packets.forEach(bad::sendRaw);
                    if (random.nextInt(4) == 0) {
                        bad.await("an answer, seed " + seed, () -> bad.isEnded() || !bad.heard.isEmpty()
                                || random.nextInt(50) == 0);
                    }
                }
                assertEquals("{\"ok\":true}", ControlQuery.ask(paths.controlSocket(), "{\"request\":\"ping\"}"),
                        "seed " + seed);
            }
            good.want();
            good.await("a turn, seed " + seed, () -> good.turns > 0);
            long deadlineNs = System.nanoTime() + 60_000 * MS;
            while (segments().size() > 1) {
                assertTrue(System.nanoTime() < deadlineNs, "sessions stay, seed " + seed + ": " + segments());
                Thread.sleep(5);
            }
            assertFalse(good.isEnded(), "seed " + seed);
        }
    }

    private static byte[] noise(Random random, MemorySegment packet) {
        int bytes = switch (random.nextInt(4)) {
            case 0 -> MessageEncoder.doorbell(packet, random.nextInt(20));
            case 1 -> MessageEncoder.quotaAsk(packet, random.nextInt(20), random.nextLong());
            case 2 -> MessageEncoder.quotaReturn(packet, random.nextInt(20), random.nextLong());
            default -> random.nextInt(512);
        };
        byte[] raw = packet.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
        for (int i = random.nextInt(3); i > 0 && bytes > 0; i--) {
            raw[random.nextInt(bytes)] = (byte) random.nextInt();
        }
        return raw;
    }

    private List<Path> segments() throws Exception {
        try (Stream<Path> files = Files.list(paths.shmDirectory())) {
            return files.toList();
        }
    }

    @Test
    void aSecondManagerIsRefusedAndTheFirstGoesOn() throws Exception {
        ManagerRunningException refused = assertThrows(ManagerRunningException.class, () -> Manager.start(context()));
        assertTrue(refused.getMessage().contains("(pid " + ProcessHandle.current().pid() + ")"), refused.getMessage());
        assertEquals("{\"ok\":true}", ControlQuery.ask(paths.controlSocket(), "{\"request\":\"ping\"}"));
        manager.close();
        manager = Manager.start(context());
        assertEquals("{\"ok\":true}", ControlQuery.ask(paths.controlSocket(), "{\"request\":\"ping\"}"));
    }

    @Test
    void aRemovedPidFileGivesNoSecondManager() throws Exception {
        Files.delete(paths.pidFile());
        assertThrows(ManagerRunningException.class, () -> Manager.start(context()));
        assertEquals("{\"ok\":true}", ControlQuery.ask(paths.controlSocket(), "{\"request\":\"ping\"}"));
        manager.close();
        manager = Manager.start(context());
        assertEquals("{\"ok\":true}", ControlQuery.ask(paths.controlSocket(), "{\"request\":\"ping\"}"));
    }

    @Test
    void whatADeadManagerLeftIsRemovedAndWhatALivingOneHasIsKept() throws Exception {
        manager.close();
        Files.createFile(paths.registrationSocket());
        Files.createFile(paths.controlSocket());
        Files.writeString(paths.pidFile(), "4194304\n");
        long now = System.nanoTime();
        int parent = (int) ProcessHandle.current().parent().orElseThrow().pid();
        Path dead = segment(1, 4_194_304, now);
        Path silent = segment(2, parent, now - 6_000 * MS);
        Path alive = segment(3, parent, now);
        Path cut = Files.write(paths.segment(4), new byte[100]);
        Path foreign = Files.createFile(paths.shmDirectory().resolve("something.else"));
        manager = Manager.start(context());
        assertFalse(Files.exists(dead));
        assertFalse(Files.exists(silent));
        assertFalse(Files.exists(cut));
        assertTrue(Files.exists(alive));
        assertTrue(Files.exists(foreign));
        try (TestClient one = TestClient.onDevice(paths.registrationSocket(), "a");
                TestClient two = TestClient.onDevice(paths.registrationSocket(), "a");
                TestClient three = TestClient.onDevice(paths.registrationSocket(), "a")) {
            assertEquals("welcome 1", one.heard.getFirst());
            assertEquals("welcome 2", two.heard.getFirst());
            assertEquals("welcome 4", three.heard.getFirst(), "not the name that another manager has");
        }
        Files.delete(alive);
    }

    private Path segment(long id, int managerPid, long heartbeatNs) throws Exception {
        Path path = paths.segment(id);
        try (Arena arena = Arena.ofConfined();
                FileChannel file = FileChannel.open(path,
                        StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            SegmentHeader header = new SegmentHeader(
                    file.map(FileChannel.MapMode.READ_WRITE, 0, SegmentLayout.SEGMENT_BYTES, arena));
            header.initialise(new SegmentHeader.Identity(id, 1, 0, managerPid, 0, MemoryPlan.PLAIN, "old", "old"));
            header.managerHeartbeatNs(heartbeatNs);
            header.publishVersion();
        }
        return path;
    }

    @Test
    void directoriesThatOthersCouldHavePreparedAreRefused() throws Exception {
        Path open = Files.createDirectory(folder.resolve("open"));
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), Files.createDirectory(folder.resolve("target")));
        Path file = Files.createFile(folder.resolve("file"));
        for (Path wrong : List.of(open, link, file)) {
            assertThrows(UnsafeDirectoryException.class, () -> Manager.start(
                    ManagerContext.in(new RuntimeDirectory(wrong, folder.resolve("s")))), wrong.toString());
            assertThrows(UnsafeDirectoryException.class, () -> Manager.start(
                    ManagerContext.in(new RuntimeDirectory(folder.resolve("r"), wrong))), wrong.toString());
        }
        Path foreign = Path.of("/proc/1");
        if (Linux.open().processes().uid() != 0) {
            assertThrows(UnsafeDirectoryException.class, () -> Manager.start(
                    ManagerContext.in(new RuntimeDirectory(foreign, folder.resolve("s")))));
        }
    }

    /** A tmpfs of a few pages becomes full; to mount one needs a privilege that not every host gives. */
    @Test
    void aFullTmpfsIsARefusalAndNotACrash() throws Exception {
        manager.close();
        Path small = Files.createDirectory(folder.resolve("small"));
        Assumptions.assumeTrue(exitOf("mount", "-t", "tmpfs", "-o", "size=160k,mode=700", "tmpfs", small.toString()) == 0,
                "no tmpfs can be mounted here; the same is tested with an answer of posix_fallocate in memory");
        try {
            paths = new RuntimeDirectory(folder.resolve("run"), small);
            manager = Manager.start(context());
            try (TestClient fits = TestClient.onDevice(paths.registrationSocket(), "a");
                    TestClient tooMuch = new TestClient(paths.registrationSocket())) {
                tooMuch.hello("b");
                tooMuch.await("an answer", tooMuch::isEnded);
                assertTrue(tooMuch.heard.getFirst().startsWith("refused 3: no space for a segment of 131072 bytes in "
                        + small + " (ENOSPC; make room there"), tooMuch.heard.toString());
                fits.want();
                fits.await("a turn", () -> fits.turns > 0);
            }
            manager.close();
        } finally {
            assertEquals(0, exitOf("umount", small.toString()));
        }
    }

    private static int exitOf(String... command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
        assertTrue(process.waitFor(60, TimeUnit.SECONDS), "60 s are not enough for " + List.of(command));
        return process.exitValue();
    }

    private static void run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).inheritIO().start();
        assertTrue(process.waitFor(60, TimeUnit.SECONDS), "60 s are not enough for " + List.of(command));
        assertEquals(0, process.exitValue(), List.of(command).toString());
    }

    /** Programs that clean /tmp do this. */
    @Test
    void aManagerWhoseDirectoryIsTakenAwayEndsAndLeavesTheNextOneAlone() throws Exception {
        Manager first = manager;
        Path place = paths.path();
        Files.move(place, place.resolveSibling("moved"));
        manager = Manager.start(context());
        assertNull(first.awaitEnd(), "it ends in order");
        first.close();
        assertTrue(Files.exists(paths.registrationSocket()));
        assertTrue(Files.exists(paths.pidFile()));
        assertFalse(manager.isStopping());
    }
}

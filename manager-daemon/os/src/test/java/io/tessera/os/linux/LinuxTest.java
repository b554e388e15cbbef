package io.tessera.os.linux;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.clock.Clocks;
import io.tessera.os.Errno;
import io.tessera.os.FilePort;
import io.tessera.os.FileStatus;
import io.tessera.os.LinuxException;
import io.tessera.os.LinuxPort;
import io.tessera.os.PeerCredentials;
import io.tessera.os.PollPort;
import io.tessera.os.Poller;
import io.tessera.os.ProcessPort;
import io.tessera.os.SocketKind;
import io.tessera.os.SocketPort;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The real ports against the kernel that runs the test. */
@Timeout(180)
class LinuxTest {
    private static final long SECOND = 1_000_000_000L;

    @TempDir
    Path folder;
    private final LinuxPort os = Linux.open();
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment buffer = arena.allocate(256, 8);

    @AfterEach
    void free() {
        arena.close();
    }

    @Test
    void nanoTimeIsTheMonotonicClockOfCPrograms() throws Exception {
        long before = Linux.monotonicNs();
        long java = Clocks.system().monotonic().nanoTime();
        long after = Linux.monotonicNs();
        assertTrue(before <= java && java <= after, before + " " + java + " " + after);
    }

    @Test
    void realtimeIsThatOfTheSystem() {
        long differenceMs = Clocks.system().realtime().nanoTime() / 1_000_000 - System.currentTimeMillis();
        assertTrue(Math.abs(differenceMs) < 5_000, "differs by " + differenceMs + " ms");
    }

    @Test
    void packetsKeepTheirBoundsAndTellTheirWholeLength() throws Exception {
        try (Pair pair = new Pair(SocketKind.SEQPACKET)) {
            assertEquals(SocketPort.WOULD_BLOCK, os.sockets().receive(pair.server, buffer));
            assertEquals(16, os.sockets().send(pair.client, buffer, 16));
            assertEquals(200, os.sockets().send(pair.client, buffer, 200));
            assertEquals(16, os.sockets().receive(pair.server, buffer));
            assertEquals(200, os.sockets().receive(pair.server, buffer.asSlice(0, 32)), "the cut packet's own length");
            pair.closeClient();
            assertEquals(0, os.sockets().receive(pair.server, buffer));
            LinuxException broken = assertThrows(LinuxException.class, () -> os.sockets().send(pair.server, buffer, 16));
            assertEquals(Errno.EPIPE, broken.errno());
            assertEquals("send(" + pair.server + "): EPIPE", broken.getMessage());
        }
    }

    @Test
    void aFullSocketIsAnAnswer() throws Exception {
        try (Pair pair = new Pair(SocketKind.SEQPACKET)) {
            int sent = 0;
            while (os.sockets().send(pair.server, buffer, 16) != SocketPort.WOULD_BLOCK) {
                sent++;
                assertTrue(sent < 1_000_000, "the socket never fills");
            }
            assertTrue(sent > 0);
        }
    }

    @Test
    void aDescriptorTravelsAndMapsTheSameMemory() throws Exception {
        Path file = folder.resolve("segment");
        int descriptor = os.files().open(file, FilePort.Open.CREATE_NEW, 0600);
        assertEquals(0, os.files().reserve(descriptor, 8192));
        MemorySegment ours = os.files().map(descriptor, 8192, true, arena);
        try (Pair pair = new Pair(SocketKind.SEQPACKET)) {
            assertEquals(24, os.sockets().sendWithDescriptor(pair.server, buffer, 24, descriptor));
            SocketPort.Received received = os.sockets().receiveWithDescriptor(pair.client, buffer);
            assertEquals(24, received.bytes());
            assertNotEquals(SocketPort.NO_DESCRIPTOR, received.descriptor());
            MemorySegment theirs = os.files().map(received.descriptor(), 8192, true, arena);
            theirs.set(ValueLayout.JAVA_LONG, 4096, 77);
            assertEquals(77, ours.get(ValueLayout.JAVA_LONG, 4096));
            os.files().close(received.descriptor());

            assertEquals(24, os.sockets().send(pair.server, buffer, 24));
            assertEquals(new SocketPort.Received(24, SocketPort.NO_DESCRIPTOR),
                    os.sockets().receiveWithDescriptor(pair.client, buffer));
        }
        os.files().close(descriptor);
    }

    @Test
    void theLastMessageIsReadAlthoughTheConnectionEndedWithPacketsUnread() throws Exception {
        try (Pair pair = new Pair(SocketKind.SEQPACKET)) {
            for (int i = 0; i < 5; i++) {
                os.sockets().send(pair.client, buffer, 16);
            }
            os.sockets().send(pair.server, buffer, 99);
            pair.closeServerAfterReading();
            assertEquals(99, os.sockets().receive(pair.client, buffer));
            assertEquals(0, os.sockets().receive(pair.client, buffer));
        }
    }

    @Test
    void theKernelSaysWhoConnectedAndHoldsThatProcess() throws Exception {
        try (Pair pair = new Pair(SocketKind.SEQPACKET)) {
            PeerCredentials peer = os.sockets().peer(pair.server);
            assertEquals(os.processes().pid(), peer.pid());
            assertEquals(os.processes().uid(), peer.uid());
            int pidfd = os.processes().pidfdOfPeer(pair.server, peer);
            assertNotEquals(ProcessPort.NO_PIDFD, pidfd);
            assertTrue(os.processes().signal(pidfd, 0), "signal 0 only asks");
            os.processes().close(pidfd);
        }
        assertEquals(ProcessHandle.current().pid(), os.processes().pid());
        assertTrue(os.processes().startTicks(os.processes().pid()) > 0);
        assertEquals(0, os.processes().startTicks(-1));
    }

    @Test
    void aProcessThatHasEndedHasNoStartAlsoWhileItsParentHasNotTakenNote() throws Exception {
        Process parent = new ProcessBuilder("/bin/sh", "-c", "sleep 60 & echo $!; exec sleep 60").start();
        try (BufferedReader lines = parent.inputReader()) {
            int child = Integer.parseInt(lines.readLine());
            long ticks = os.processes().startTicks(child);
            assertTrue(ticks > 0);
            ProcessHandle.of(child).orElseThrow().destroyForcibly();
            for (int look = 0; os.processes().startTicks(child) == ticks && look < 10_000; look++) {
                Thread.sleep(1);
            }
            assertEquals(0, os.processes().startTicks(child));
            assertTrue(os.processes().exists(child), "a zombie");
        } finally {
            parent.destroyForcibly().waitFor();
        }
        assertTrue(os.processes().exists(os.processes().pid()));
        assertFalse(os.processes().exists(0));
    }

    @Test
    void pathsThatDoNotFitOrAreTakenAreNamed() throws Exception {
        Path tooLong = folder.resolve("x".repeat(120));
        LinuxException refused = assertThrows(LinuxException.class,
                () -> os.sockets().listen(tooLong, SocketKind.STREAM, 0600, 1));
        assertTrue(refused.getMessage().contains("longer than 107 bytes): ENAMETOOLONG"), refused.getMessage());
        Path path = folder.resolve("s");
        int listener = os.sockets().listen(path, SocketKind.STREAM, 0600, 1);
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(path)));
        assertEquals("bind(" + path + "): EADDRINUSE", assertThrows(LinuxException.class,
                () -> os.sockets().listen(path, SocketKind.STREAM, 0600, 1)).getMessage());
        os.sockets().close(listener);
        assertEquals(Errno.name(111), "ECONNREFUSED");
        assertTrue(assertThrows(LinuxException.class, () -> os.sockets().connect(path, SocketKind.STREAM))
                .getMessage().endsWith("ECONNREFUSED"));
    }

    @Test
    void pollTellsWhatIsReadyAndWakes() throws Exception {
        List<String> told = new ArrayList<>();
        try (Poller poller = new Poller(os.poll()); Pair pair = new Pair(SocketKind.SEQPACKET)) {
            long token = poller.add(pair.server, PollPort.READABLE, events -> told.add("server " + events));
            assertEquals(0, poller.dispatch(0));
            os.sockets().send(pair.client, buffer, 16);
            assertEquals(1, poller.dispatch(SECOND));
            poller.change(pair.server, PollPort.WRITABLE, token);
            assertEquals(1, poller.dispatch(SECOND));
            poller.change(pair.server, 0, token);
            assertEquals(0, poller.dispatch(0));
            assertEquals(List.of("server 1", "server 4"), told);

            poller.wake();
            poller.wake();
            assertEquals(0, poller.dispatch(10 * SECOND), "woken, nothing called");
            long before = Linux.monotonicNs();
            assertEquals(0, poller.dispatch(20_000_000));
            long waitedNs = Linux.monotonicNs() - before;
            assertTrue(waitedNs >= 20_000_000, "woken once for two wakes, waited " + waitedNs);
            poller.remove(pair.server, token);
        }
    }

    @Test
    void aDescriptorRemovedInTheSameBatchIsNotCalled() throws Exception {
        int[] calls = new int[1];
        try (Poller poller = new Poller(os.poll());
                Pair one = new Pair(SocketKind.SEQPACKET);
                Pair two = new Pair(SocketKind.SEQPACKET)) {
            long[] tokens = new long[2];
            tokens[0] = poller.add(one.server, PollPort.READABLE, e -> removeOther(poller, two.server, tokens, 1, calls));
            tokens[1] = poller.add(two.server, PollPort.READABLE, e -> removeOther(poller, one.server, tokens, 0, calls));
            os.sockets().send(one.client, buffer, 16);
            os.sockets().send(two.client, buffer, 16);
            assertEquals(1, poller.dispatch(SECOND));
            assertEquals(1, calls[0]);
        }
    }

    private static void removeOther(Poller poller, int descriptor, long[] tokens, int other, int[] calls) {
        calls[0]++;
        try {
            poller.remove(descriptor, tokens[other]);
        } catch (LinuxException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void filesAreNeverReachedThroughALink() throws Exception {
        Path directory = folder.resolve("d");
        assertTrue(os.files().makeDirectory(directory, 0711));
        assertFalse(os.files().makeDirectory(directory, 0711));
        Path link = Files.createSymbolicLink(folder.resolve("l"), directory);
        assertThrows(LinuxException.class, () -> os.files().open(link, FilePort.Open.DIRECTORY, 0));
        Path dangling = Files.createSymbolicLink(folder.resolve("m"), folder.resolve("target"));
        for (FilePort.Open how : List.of(FilePort.Open.CREATE, FilePort.Open.CREATE_NEW, FilePort.Open.READ)) {
            assertThrows(LinuxException.class, () -> os.files().open(dangling, how, 0600), how.toString());
        }
        assertFalse(Files.exists(folder.resolve("target")));
    }

    /** Runs in a thread of its own, because no interrupt ends a call of the kernel. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void readingAFifoWaitsForNobody() throws Exception {
        Path fifo = folder.resolve("fifo");
        assertEquals(0, new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor());
        int descriptor = os.files().open(fifo, FilePort.Open.READ, 0);
        assertEquals(0, os.files().read(descriptor, 16).length);
        os.files().close(descriptor);
    }

    @Test
    void filesAreWrittenLockedAndDescribed() throws Exception {
        Path path = folder.resolve("pid");
        int first = os.files().open(path, FilePort.Open.CREATE, 0644);
        int second = os.files().open(path, FilePort.Open.CREATE, 0644);
        os.files().write(first, "a longer text\n".getBytes(StandardCharsets.UTF_8));
        os.files().permissions(first, 0640);
        int again = os.files().open(path, FilePort.Open.CREATE, 0644);
        assertArrayEquals("a longer".getBytes(StandardCharsets.UTF_8), os.files().read(again, 8));
        FileStatus status = os.files().status(first);
        assertEquals(0640, status.permissions());
        assertEquals(14, status.bytes());
        assertEquals(os.processes().uid(), status.uid());
        assertEquals((long) Files.getAttribute(path, "unix:ino"), status.inode());
        assertTrue(status.isRegularFile());
        assertFalse(status.othersCanWrite());
        assertTrue(os.files().lock(first));
        assertFalse(os.files().lock(second), "another open file of the same process counts as another");
        os.files().close(first);
        assertTrue(os.files().lock(second));
        assertTrue(os.files().remove(path));
        assertFalse(os.files().remove(path));
        os.files().close(second);
        os.files().close(again);
    }

    @Test
    void spaceThatIsNotThereIsAnErrorNumber() throws Exception {
        int descriptor = os.files().open(folder.resolve("huge"), FilePort.Open.CREATE_NEW, 0600);
        int errno = os.files().reserve(descriptor, 1L << 60);
        assertTrue(errno == Errno.ENOSPC || errno == 27, Errno.name(errno)); // EFBIG: beyond the file system's files
        os.files().close(descriptor);
    }

    @Test
    void aPidfdTellsTheEndOfAProcess() throws Exception {
        Process child = new ProcessBuilder("sleep", "60").start();
        try {
            int pidfd = (int) LibC.syscall(434, child.pid(), 0, 0, 0);
            assertTrue(pidfd >= 0);
            try (Poller poller = new Poller(os.poll())) {
                poller.add(pidfd, PollPort.READABLE, events -> {});
                assertEquals(0, poller.dispatch(0));
                assertTrue(os.processes().signal(pidfd, ProcessPort.SIGKILL));
                assertEquals(1, poller.dispatch(10 * SECOND));
                assertTrue(child.waitFor(10, TimeUnit.SECONDS));
                assertFalse(os.processes().signal(pidfd, ProcessPort.SIGTERM), "gone is an answer");
            }
            os.processes().close(pidfd);
        } finally {
            child.destroyForcibly();
        }
    }

    /** Two connected sockets. */
    private final class Pair implements AutoCloseable {
        final int client;
        final int server;
        private boolean clientOpen = true;
        private boolean serverOpen = true;

        Pair(SocketKind kind) throws IOException {
            Path path = Files.createTempDirectory(folder, "p").resolve("s");
            int listener = os.sockets().listen(path, kind, 0600, 1);
            assertEquals(SocketPort.WOULD_BLOCK, os.sockets().accept(listener));
            client = os.sockets().connect(path, kind);
            server = os.sockets().accept(listener);
            os.sockets().close(listener);
        }

        void closeClient() throws LinuxException {
            clientOpen = false;
            os.sockets().close(client);
        }

        void closeServerAfterReading() throws LinuxException {
            serverOpen = false;
            os.sockets().closeAfterReading(server);
        }

        @Override
        public void close() throws LinuxException {
            if (clientOpen) {
                os.sockets().close(client);
            }
            if (serverOpen) {
                os.sockets().close(server);
            }
        }
    }

    /** One port serves threads that wait at sets of their own: no thread receives events of another one's set. */
    @Test
    void setsOfSeveralThreadsAreNotMixedUp() throws Exception {
        PollPort port = Linux.open().poll();
        List<Throwable> wrong = new CopyOnWriteArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int thread = 1; thread <= 4; thread++) {
            long own = thread;
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    int set = port.open();
                    int wakeup = port.openWakeup();
                    port.add(set, wakeup, PollPort.READABLE, own);
                    port.wake(wakeup);
                    for (int round = 0; round < 20_000; round++) {
                        port.await(set, 0, (token, _) -> assertEquals(own, token));
                    }
                    port.close(wakeup);
                    port.close(set);
                } catch (IOException | AssertionError e) {
                    wrong.add(e);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(List.of(), wrong);
    }
}

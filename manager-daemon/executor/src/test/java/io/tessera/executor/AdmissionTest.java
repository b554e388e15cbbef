package io.tessera.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.executor.fake.ScarceMemory;
import io.tessera.os.LinuxPort;
import io.tessera.os.SocketKind;
import io.tessera.os.SocketPort;
import io.tessera.os.linux.Linux;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.message.MessageLayout;
import io.tessera.protocol.message.RefusalCode;
import io.tessera.protocol.message.RelayMessageAdapter;
import io.tessera.protocol.message.RelayMessageEncoder;
import io.tessera.protocol.message.RelayPinned;
import io.tessera.protocol.message.RelayToken;
import io.tessera.protocol.relay.QueryKind;
import io.tessera.protocol.segment.SegmentLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients that cannot be served, and memory that the host has not: those who come later are served. */
@Timeout(180)
class AdmissionTest {
    private static final long BYTES = 1 << 20;
    private static final long SLOW_BYTES = 64 << 20;

    @TempDir
    Path folder;

    private static long descriptors() {
        return Stream.of(Path.of("/proc/self/fd").toFile().list()).count();
    }

    @Test
    void aHostWithoutMemoryForASegmentRefusesTheClientAndServesTheNext() throws Exception {
        ScarceMemory memory = new ScarceMemory();
        try (RunningExecutor executor = new RunningExecutor(folder, memory)) {
            for (boolean full : new boolean[] {true, false}) {
                memory.full = full;
                memory.unmappable = !full;
                IllegalStateException refused = assertThrows(IllegalStateException.class, () -> executor.client("a", 0));
                assertTrue(refused.getMessage().contains("no segment could be made"), refused.getMessage());
            }
            memory.unmappable = false;
            try (RelayTestClient client = executor.client("a", 0)) {
                assertEquals(0, client.pin(BYTES, 0).result());
            }
        }
    }

    @Test
    void pinnedMemoryThatTheHostHasNotIsOutOfMemoryAndNothingElse() throws Exception {
        ScarceMemory memory = new ScarceMemory();
        try (RunningExecutor executor = new RunningExecutor(folder, memory);
                RelayTestClient client = executor.client("a", 0)) {
            long before = descriptors();
            for (int i = 0; i < 50; i++) {
                memory.full = i % 2 == 0;
                memory.unmappable = i % 2 == 1;
                RelayPinned pinned = client.pin(BYTES, 0);
                if (memory.full) {
                    assertEquals(CudaResult.OUT_OF_MEMORY, pinned.result());
                } else { // it is mapped when it is registered
                    assertNotEquals(CudaResult.SUCCESS, client.query(QueryKind.PINNED, pinned.id()));
                    client.query(QueryKind.UNPIN, pinned.id());
                }
            }
            assertTrue(descriptors() <= before + 5, "descriptors stay open");
            memory.full = false;
            memory.unmappable = false;
            assertEquals(0, client.pin(BYTES, 0).result());
            client.synchronise(0, 5, 2);
        }
    }

    /** The system clears pages: gigabytes take seconds, and several clients at once take longer. */
    @Test
    void nobodyWaitsForTheMemoryOfAnother() throws Exception {
        ScarceMemory memory = new ScarceMemory();
        try (RunningExecutor executor = new RunningExecutor(folder, memory);
                RelayTestClient slow = executor.client("a", 0);
                RelayTestClient other = executor.client("b", 0)) {
            memory.slowBytes = SLOW_BYTES;
            CompletableFuture<RelayPinned> pins = CompletableFuture.supplyAsync(() -> pin(slow, SLOW_BYTES));
            Thread.sleep(300);
            long beat = other.segment().executorHeartbeatNs();
            assertEquals(0, other.pin(BYTES, 0).result());
            try (RelayTestClient newcomer = executor.client("c", 0)) {
                assertEquals(0, newcomer.pin(BYTES, 0).result());
            }
            RelayTestClient.await(() -> other.segment().executorHeartbeatNs() != beat, "a heartbeat");
            assertFalse(pins.isDone());
            try (RelayTestClient gone = executor.client("a", 0)) {
                CompletableFuture.runAsync(() -> pin(gone, SLOW_BYTES));
                Thread.sleep(300);
                gone.disconnect();
            }
            memory.slowBytes = 0;
            assertEquals(0, pins.get().result());
            assertEquals(0, slow.pin(BYTES, 0).result());
        }
    }

    private static RelayPinned pin(RelayTestClient client, long bytes) {
        try {
            return client.pin(bytes, 0);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aClientWhoseTenantGetsNoWindowIsToldAndTheNextIsServed() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder)) {
            executor.driver.addressless = true;
            assertThrows(IllegalStateException.class, () -> executor.client("a", 0));
            executor.driver.addressless = false;
            try (RelayTestClient client = executor.client("b", 0)) {
                client.synchronise(0, 5, 2);
            }
        }
    }

    /** They are of one user here, whose silent connections go before those that have said who they are. */
    @Test
    void connectionsThatSayNothingEndNoClient() throws Exception {
        LinuxPort os = Linux.open();
        try (RunningExecutor executor = new RunningExecutor(folder);
                Arena arena = Arena.ofConfined();
                RelayTestClient client = executor.client("a", 0)) {
            MemorySegment packet = arena.allocate(MessageLayout.MAX_BYTES + 8L, 8);
            List<Integer> silent = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                silent.add(os.sockets().connect(executor.socket(), SocketKind.SEQPACKET));
            }
            RelayMessageAdapter.Refused refused = assertInstanceOf(RelayMessageAdapter.Refused.class,
                    RelayMessageAdapter.fromExecutor(packet, awaitPacket(os, silent.getFirst(), packet)));
            assertEquals(RefusalCode.FULL.code(), refused.code());
            assertEquals("more than 64 connections of this user have not said who they are", refused.reason());
            client.synchronise(0, 5, 2);
            try (RelayTestClient next = executor.client("b", 0)) {
                next.synchronise(0, 5, 2);
            }
            for (int socket : silent) {
                os.sockets().close(socket);
            }
        }
    }

    private static int awaitPacket(LinuxPort os, int socket, MemorySegment packet) throws Exception {
        SocketPort.Received received = os.sockets().receiveWithDescriptor(socket, packet);
        for (long untilNs = System.nanoTime() + 10_000_000_000L; received.bytes() == SocketPort.WOULD_BLOCK
                && System.nanoTime() < untilNs; received = os.sockets().receiveWithDescriptor(socket, packet)) {
            Thread.sleep(1);
        }
        return received.bytes();
    }

    /** A client of another release says so in its first message, and hears it. */
    @ParameterizedTest
    @ValueSource(ints = {-1, 1})
    void aClientOfAnotherVersionIsToldSo(int later) throws Exception {
        LinuxPort os = Linux.open();
        try (RunningExecutor executor = new RunningExecutor(folder); Arena arena = Arena.ofConfined()) {
            MemorySegment packet = arena.allocate(MessageLayout.MAX_BYTES + 8L, 8);
            int socket = os.sockets().connect(executor.socket(), SocketKind.SEQPACKET);
            int bytes = RelayMessageEncoder.hello(packet, RelayToken.create());
            long version = SegmentLayout.offset(MessageLayout.HEADER, "version");
            packet.set(WireTypes.U16, version, (short) (packet.get(WireTypes.U16, version) + later));
            os.sockets().send(socket, packet, bytes);
            RelayMessageAdapter.Refused refused = assertInstanceOf(RelayMessageAdapter.Refused.class,
                    RelayMessageAdapter.fromExecutor(packet, awaitPacket(os, socket, packet)));
            assertEquals(RefusalCode.VERSION.code(), refused.code(), Arrays.toString(RefusalCode.values()));
            os.sockets().close(socket);
            try (RelayTestClient client = executor.client("a", 0)) {
                client.synchronise(0, 5, 2);
            }
        }
    }
}

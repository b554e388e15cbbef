package io.tessera.executor;

import static io.tessera.executor.client.RelayTestClient.await;
import static io.tessera.executor.client.RelayTestClient.in;
import static io.tessera.executor.client.RelayTestClient.mark;
import static io.tessera.executor.client.RelayTestClient.outBytes;
import static io.tessera.executor.client.RelayTestClient.text;
import static io.tessera.executor.client.RelayTestClient.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.DriverEntry;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.executor.quota.Countable;
import io.tessera.protocol.message.RelayPinned;
import io.tessera.protocol.message.RelayToken;
import io.tessera.protocol.relay.QueryKind;
import io.tessera.protocol.relay.RecordHeader;
import io.tessera.protocol.relay.RecordKind;
import io.tessera.protocol.relay.RelayLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An executor over a fake driver and clients that speak the protocol to it. */
@Timeout(300)
class SessionTest {
    private static final byte[] PTX = "// ptx\0".getBytes(StandardCharsets.US_ASCII);

    @TempDir
    Path folder;

    private static long module(RelayTestClient client) {
        assertEquals(0, client.call(DriverEntry.cuModuleLoadDataEx, outBytes(8), in(PTX), value(0), value(0), value(0)));
        return client.outLong(0);
    }

    private static long function(RelayTestClient client, long module, String name) {
        assertEquals(0, client.call(DriverEntry.cuModuleGetFunction, outBytes(8), value(module), text(name)));
        return client.outLong(0);
    }

    private static long allocate(RelayTestClient client, long bytes) {
        assertEquals(0, client.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(bytes)));
        return client.outLong(0);
    }

    private static byte[] longs(long... values) {
        return MemorySegment.ofArray(values).toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void aClientHasSoManyStreamsAndNoMore() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0);
                RelayTestClient other = executor.client("b", 0)) {
            long last = 0;
            for (int i = 0; i < Countable.STREAM.most(); i++) {
                assertEquals(0, client.call(DriverEntry.cuStreamCreate, outBytes(8), value(1)), "stream " + i);
                last = client.outLong(0);
            }
            assertEquals(2, client.call(DriverEntry.cuStreamCreate, outBytes(8), value(1)));
            assertEquals(0, other.call(DriverEntry.cuStreamCreate, outBytes(8), value(1)));
            assertEquals(0, client.call(DriverEntry.cuStreamDestroy_v2, value(last)));
            assertEquals(0, client.call(DriverEntry.cuStreamCreate, outBytes(8), value(1)));
        }
    }

    /** A driver would keep the executor inside a submission that finds some 1024 before it. */
    @Test
    void aStreamThatStandsStillIsNotFilled() throws Exception {
        try (RunningExecutor executor = RunningExecutor.patient(folder)) {
            RelayTestClient client = executor.client("a", 0);
            assertEquals(0, client.call(DriverEntry.cuStreamCreate, outBytes(8), value(1)));
            long stream = client.outLong(0);
            long device = allocate(client, 4096);
            executor.driver.heldStreams.addAll(executor.driver.made("stream"));
            assertEquals(0, client.call(DriverEntry.cuStreamWaitValue32_v2, value(stream), value(device), value(77), value(1)));
            long before = memsets(executor);
            for (int i = 0; i < 3000; i++) {
                client.post(DriverEntry.cuMemsetD8Async, value(device), value(1), value(16), value(stream));
            }
            await(() -> memsets(executor) - before >= 256, "what a stream may have before it");
            Thread.sleep(200);
            long out = memsets(executor) - before;
            assertTrue(out < 900, out + " submissions behind a wait");
            try (RelayTestClient other = executor.client("b", 0)) {
                allocate(other, 4096);
            }
            client.ask(DriverEntry.cuMemsetD32_v2, value(device), value(1), value(4));
            client.disconnect();
            await(() -> executor.driver.calls.contains("cuStreamWriteValue32_v2"), "nobody ends the wait of the client that is gone");
            executor.driver.heldStreams.clear();
            await(() -> memsets(executor) - before >= 3000, "what it left is not done");
            await(client.segment()::ended, "the end");
            assertFalse(executor.driver.calls.contains("cuMemsetD32_v2"), "a call that nobody waits for any more");
            assertFalse(executor.told().contains("stuck"), executor.told());
            client.close();
        }
    }

    /** Nobody can end a copy: what a stream has before it takes a second or so, also where records come all at once. */
    @Test
    void aStreamHasNoMoreCopiesBeforeItThanASecondTakes() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder); RelayTestClient client = executor.client("a", 0)) {
            executor.driver.touchesMemory = false;
            assertEquals(0, client.call(DriverEntry.cuStreamCreate, outBytes(8), value(1)));
            long stream = client.outLong(0);
            long bytes = 128L << 20; // 30 at 4 GB/s take a second
            long device = allocate(client, bytes);
            long before = memsets(executor);
            executor.driver.heldStreams.addAll(executor.driver.made("stream"));
            for (int i = 0; i < 300; i++) {
                client.post(DriverEntry.cuMemsetD8Async, value(device), value(1), value(bytes), value(stream));
            }
            await(() -> memsets(executor) - before >= 29, "a second's");
            Thread.sleep(300);
            assertTrue(memsets(executor) - before <= 36, memsets(executor) - before + " memsets of 128 MiB");
            executor.driver.heldStreams.clear();
            await(() -> memsets(executor) - before == 300, "the rest");
        }
    }

    private static long memsets(RunningExecutor executor) {
        return executor.driver.calls.stream().filter("cuMemsetD8Async"::equals).count();
    }

    @Test
    void aKernelRunsAndItsResultComesBackThroughPinnedMemory() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0)) {
            long fill = function(client, module(client), "fill");
            long device = allocate(client, 4096);
            client.launch(fill, 0, longs(device, 4711));
            RelayPinned pinned = client.pin(4096, 0);
            assertEquals(0, pinned.result());
            assertTrue(pinned.address() >= 0x2000_0000_0000L && pinned.address() < 0x4000_0000_0000L);
            assertEquals(0, client.query(QueryKind.PINNED, pinned.id()));
            client.post(DriverEntry.cuMemcpyAsync, value(pinned.address()), value(device), value(8), value(0));
            client.synchronise(0, 5, 2);
            MemorySegment host = MemorySegment.ofAddress(pinned.address()).reinterpret(8); // one process, one mapping
            assertEquals(4711, host.get(ValueLayout.JAVA_LONG, 0));
            assertEquals(0, client.segment().takeCallError());
            assertEquals(0, client.query(QueryKind.UNPIN, pinned.id()));
            client.post(DriverEntry.cuMemcpyAsync, value(pinned.address()), value(device), value(8), value(0));
            client.synchronise(0, 5, 4);
            assertEquals(1, client.segment().takeCallError(), "unpinned memory is nobody's");
        }
    }

    @Test
    void theDeviceIsToldWithoutAsking() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 1 << 20)) {
            MemorySegment device = client.segment().device();
            assertEquals("Fake GPU", device.getString(16));
            assertEquals(1 << 20, device.get(ValueLayout.JAVA_LONG, 304), "as the tenant may see it");
            assertEquals(DriverEntry.values().length, client.segment().entries());
            assertEquals(0, client.query(QueryKind.MEMORY, 0));
            assertArrayEquals(longs(1 << 20, 1 << 20, 0), client.out());
        }
    }

    @Test
    void functionsTellTheirAttributesAndParameters() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0)) {
            long function = function(client, module(client), "fill");
            assertEquals(0, client.query(QueryKind.FUNCTION, function));
            MemorySegment info = MemorySegment.ofArray(client.out());
            assertEquals(105, info.get(ValueLayout.JAVA_INT_UNALIGNED, 20));
            assertEquals(function, client.outLong(128));
            assertEquals(0x3ff, info.get(ValueLayout.JAVA_INT_UNALIGNED, 136));
            assertEquals(16, info.get(ValueLayout.JAVA_INT_UNALIGNED, 140));
            assertEquals(2, info.get(ValueLayout.JAVA_INT_UNALIGNED, 148));
            assertEquals(152 + 16, client.out().length);
        }
    }

    @Test
    void aLimitHoldsOverAllClientsOfATenant() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient first = executor.client("a", 1000);
                RelayTestClient second = executor.client("a", 1000);
                RelayTestClient other = executor.client("b", 0)) {
            long address = allocate(first, 600);
            assertEquals(2, second.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(600)));
            allocate(other, 1 << 20);
            assertEquals(1, other.call(DriverEntry.cuMemFree_v2, value(address)), "another client's memory");
            assertEquals(0, first.call(DriverEntry.cuMemFree_v2, value(address)));
            allocate(second, 600);
        }
    }

    @Test
    void handlesOfOthersOfOtherKindsAndOfThePastAreRefused() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0);
                RelayTestClient other = executor.client("b", 0)) {
            long module = module(client);
            long function = function(client, module, "fill");
            assertEquals(500, client.call(DriverEntry.cuModuleGetFunction, outBytes(8), value(module), text("missing")));
            assertEquals(400, client.call(DriverEntry.cuModuleUnload, value(function)));
            assertEquals(400, other.call(DriverEntry.cuModuleUnload, value(module)));
            assertEquals(0, client.call(DriverEntry.cuModuleUnload, value(module)));
            assertEquals(400, client.call(DriverEntry.cuModuleUnload, value(module)));
            client.launch(function, 0, new byte[0]);
            assertEquals(0, client.context(7, RelayLayout.CONTEXT_CREATE));
            assertEquals(400, client.segment().takeCallError(), "functions go with their module");
            assertEquals(0, executor.driver.alive("module"));
        }
    }

    @Test
    void aLaunchBringsAllParameters() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0)) {
            long fill = function(client, module(client), "fill");
            long device = allocate(client, 4096);
            client.launch(fill, 0, longs(device));
            client.synchronise(0, 5, 1);
            assertEquals(1, client.segment().takeCallError(), "the rest would be what another's launch left");
            client.launch(fill, 0, longs(device, 4711));
            client.synchronise(0, 5, 2);
            assertEquals(0, client.segment().takeCallError());
        }
    }

    @Test
    void copiesStayInsideTheClientsMemory() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0);
                RelayTestClient other = executor.client("b", 0)) {
            long mine = allocate(client, 256);
            long theirs = allocate(other, 256);
            assertEquals(0, client.call(DriverEntry.cuMemcpyHtoDAsync_v2, value(mine), in(new byte[256]), value(256),
                    value(0)));
            for (long[] wrong : new long[][] {{theirs, 1}, {mine + 255, 2}, {mine, 257}, {mine, -1}, {mine - 1, 1}}) {
                assertEquals(1, client.call(DriverEntry.cuMemsetD8Async, value(wrong[0]), value(1), value(wrong[1]),
                        value(0)), wrong[0] + " " + wrong[1]);
            }
            assertEquals(1, client.call(DriverEntry.cuMemcpyDtoDAsync_v2, value(theirs), value(mine), value(8), value(0)));
            assertEquals(1, client.call(DriverEntry.cuMemcpyDtoDAsync_v2, value(mine), value(theirs), value(8), value(0)));
        }
    }

    @Test
    void whatIsNotRelayedIsRefused() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0)) {
            assertEquals(801, client.call(DriverEntry.cuDevicePrimaryCtxReset_v2, value(0)));
            assertEquals(801, client.call(DriverEntry.cuMemHostRegister_v2, in(new byte[8]), value(8), value(0)));
            assertEquals(801, client.call(DriverEntry.cuCtxDestroy_v2, value(0)));
            assertFalse(executor.driver.calls.contains("cuDevicePrimaryCtxReset_v2"));
            assertEquals(1, client.ask(RecordKind.CALL, 60_000, 1, 0, new byte[0]));
            assertEquals(201, client.ask(RecordKind.CALL, DriverEntry.cuEventCreate.ordinal(), 9, 0, new byte[16]));
        }
    }

    @Test
    void dataLongerThanARecordComesAhead() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0)) {
            int total = 300_000;
            int piece = 60_000;
            for (int at = 0; at < total; at += piece) {
                MemorySegment body = MemorySegment.ofArray(new byte[8 + piece]);
                body.set(ValueLayout.JAVA_INT_UNALIGNED, 0, at);
                body.set(ValueLayout.JAVA_INT_UNALIGNED, 4, piece);
                long ring = client.claim(8 + piece);
                RecordHeader.write(client.segment().ring(), ring, RecordKind.BULK, 0, 4, 1, 0);
                client.segment().ring().asSlice(ring + 16, 8 + piece).copyFrom(body);
                client.commit(ring, 16 + 8 + piece);
            }
            long present = RelayLayout.POINTER_PRESENT;
            byte[] body = longs(present | 8L << 32, present | total, 0, 0, 0);
            assertEquals(0, client.ask(RecordKind.CALL, DriverEntry.cuModuleLoadDataEx.ordinal(), 1,
                    RelayLayout.FLAG_BULK, body));
            assertEquals(1, client.ask(RecordKind.CALL, DriverEntry.cuModuleLoadDataEx.ordinal(), 1,
                    RelayLayout.FLAG_BULK, body), "the data is used up");
        }
    }

    @Test
    void eventsHostCallsAndContextsAreToldByWords() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0)) {
            assertEquals(0, client.call(DriverEntry.cuEventCreate, outBytes(8), value(0)));
            long event = client.outLong(0);
            executor.driver.held = true;
            client.send(RecordKind.WATCH_EVENT, 0, false, 1, 0, mark(event, 8, 100));
            Thread.sleep(20);
            assertEquals(0, client.segment().word(100));
            executor.driver.held = false;
            await(() -> client.segment().word(100) == 8, "the event's word");
            client.send(RecordKind.HOST_CALL, 0, false, 1, 0, mark(0, 0, 101));
            await(() -> client.segment().word(101) == 1, "the host call's word");
            client.synchronise(RelayLayout.ALL_STREAMS, 102, 6);
            assertEquals(1, client.context(1, RelayLayout.CONTEXT_CREATE), "in use");
            assertEquals(0, client.context(1, RelayLayout.CONTEXT_DESTROY));
            assertEquals(2, executor.driver.alive("event"), "those that told of the host call are kept for the next");
            assertEquals(201, client.call(DriverEntry.cuEventDestroy_v2, value(event)), "its context is gone");
        }
    }

    @Test
    void everythingOfAClientThatIsGoneIsFreed() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0);
                RelayTestClient other = executor.client("a", 0)) {
            module(client);
            allocate(client, 100);
            long kept = allocate(other, 100);
            assertEquals(0, client.call(DriverEntry.cuStreamCreate, outBytes(8), value(0)));
            client.launch(0, client.outLong(0), new byte[0]);
            client.synchronise(client.outLong(0), 1, 2);
            client.send(RecordKind.HOST_CALL, 0, false, 1, 0, mark(0, 0, 7));
            await(() -> client.segment().word(7) == 1, "the host call");
            client.disconnect();
            await(client.segment()::ended, "the end");
            assertEquals(0, client.segment().word(7), "streams that wait go on");
            assertEquals(0, executor.driver.alive("module"));
            assertEquals(2, executor.driver.alive("stream"), "the window's own");
            assertEquals(0, executor.driver.alive("event"));
            assertEquals(100, executor.windows().bounds().getFirst().allocatedBytes());
            assertEquals(2, executor.driver.alive("registered"), "the other client's header and words");
            assertEquals(0, other.call(DriverEntry.cuMemFree_v2, value(kept)));
            other.disconnect();
            await(other.segment()::ended, "the other's end");
            assertEquals(0, executor.driver.alive("stream"));
            assertEquals("0 memories, 0 handles, 0 mappings, 0 reservations", executor.driver.pages.left());
        }
    }

    @Test
    void aLostContextIsToldToAllAndEndsTheExecutor() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient guilty = executor.client("a", 0);
                RelayTestClient other = executor.client("b", 0)) {
            guilty.launch(function(guilty, module(guilty), "fault"), 0, longs(0, 0));
            guilty.send(RecordKind.MARK, 0, false, 1, 0, mark(0, 2, 1));
            await(() -> other.segment().contextError() == 709 && guilty.segment().contextError() == 700, "the error");
            assertFalse(executor.awaitEnd());
            assertTrue(executor.told().contains("\"failed\""), executor.told());
            assertTrue(other.segment().ended());
        }
    }

    @Test
    void aMarkThatNeverComesIsAskedFor() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0)) {
            long fault = function(client, module(client), "fault");
            executor.driver.held = true; // marks are not written
            client.send(RecordKind.MARK, 0, false, 1, 0, mark(0, 2, 1));
            Thread.sleep(50);
            assertEquals(0, client.segment().contextError());
            client.launch(fault, 0, longs(0, 0));
            await(() -> client.segment().contextError() == 700, "the error that no call has seen");
        }
    }

    @Test
    void strangersAreRefused() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder)) {
            IllegalStateException refused = assertThrows(IllegalStateException.class,
                    () -> new RelayTestClient(executor.socket(), RelayToken.create()));
            assertTrue(refused.getMessage().contains("announced"), refused.getMessage());
        }
    }

    @Test
    void noClientSetsThePoolOfAnother() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0)) {
            byte[] device = new byte[] {1, 0, 0, 0, 0, 0, 0, 0};
            byte[] host = new byte[] {2, 0, 0, 0, 0, 0, 0, 0};
            assertEquals(0, client.call(DriverEntry.cuMemSetMemPool, in(device), value(1), value(0)));
            assertEquals(801, client.call(DriverEntry.cuMemSetMemPool, in(host), value(1), value(0)));
            assertEquals(801, client.call(DriverEntry.cuMemGetMemPool, outBytes(8), in(host), value(1)));
            assertFalse(executor.driver.calls.contains("cuMemSetMemPool"), "it is the client's own setting");
        }
    }
}

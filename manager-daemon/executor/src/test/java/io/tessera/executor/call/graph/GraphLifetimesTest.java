package io.tessera.executor.call.graph;

import static io.tessera.executor.client.RelayTestClient.in;
import static io.tessera.executor.client.RelayTestClient.outBytes;
import static io.tessera.executor.client.RelayTestClient.text;
import static io.tessera.executor.client.RelayTestClient.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaEnums.EventRecordFlag;
import io.tessera.device.CudaEnums.EventWaitFlag;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.RunningExecutor;
import io.tessera.executor.client.RelayTestClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Objects that graphs and captures use stay until those have ended. Drivers do not check that (suite {@code odd_calls}). */
@Timeout(180)
class GraphLifetimesTest {
    private static final byte[] NOTHING = new byte[0];
    private static final byte[] PTX = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry plain() { ret; }\0"
            .getBytes(StandardCharsets.US_ASCII);

    @TempDir
    Path folder;

    private RunningExecutor executor;
    private RelayTestClient client;

    @BeforeEach
    void begin() throws Exception {
        executor = new RunningExecutor(folder);
        executor.driver.graphs = true;
        client = executor.client("a", 0);
    }

    @AfterEach
    void end() throws Exception {
        client.close();
        executor.close();
    }

    private long made(DriverEntry entry, RelayTestClient.Argument... arguments) {
        assertEquals(0, client.call(entry, arguments), entry.toString());
        return client.outLong(0);
    }

    private long graph() {
        return made(DriverEntry.cuGraphCreate, outBytes(8), value(0));
    }

    private long capturing() {
        long stream = made(DriverEntry.cuStreamCreate, outBytes(8), value(1));
        assertEquals(0, client.call(DriverEntry.cuStreamBeginCapture_v2, value(stream), value(0)));
        executor.driver.capturing = true;
        return stream;
    }

    /** Returns the captured graph. */
    private long captureEnds(long stream) {
        executor.driver.capturing = false;
        return made(DriverEntry.cuStreamEndCapture, value(stream), outBytes(8));
    }

    /** Destroys a client's event; returns whether the driver has destroyed one. */
    private boolean endsAtOnce(long event) {
        assertEquals(0, client.call(DriverEntry.cuEventDestroy_v2, value(event)));
        return executor.driver.calls.contains("cuEventDestroy_v2");
    }

    private void awaitEnd(String call) {
        RelayTestClient.await(() -> {
            client.synchronise(0, 1, client.segment().word(1) + 1);
            return executor.driver.calls.contains(call);
        }, call);
    }

    @Test
    void anEventOfANodeEndsWithTheLastGraph() {
        long graph = graph();
        long event = made(DriverEntry.cuEventCreate, outBytes(8), value(0));
        made(DriverEntry.cuGraphAddEventRecordNode, outBytes(8), value(graph), value(0), value(0), value(event));
        assertFalse(endsAtOnce(event));
        assertEquals(CudaResult.INVALID_HANDLE, client.call(DriverEntry.cuEventRecord, value(event), value(0)), "the client has it no more");
        assertEquals(0, client.call(DriverEntry.cuGraphDestroy, value(graph)));
        awaitEnd("cuEventDestroy_v2");
    }

    @Test
    void aCapturedNodeNamesItsEventToo() {
        long stream = capturing();
        long recorded = made(DriverEntry.cuEventCreate, outBytes(8), value(0));
        long awaited = made(DriverEntry.cuEventCreate, outBytes(8), value(0));
        long plain = made(DriverEntry.cuEventCreate, outBytes(8), value(0));
        assertEquals(0, client.call(DriverEntry.cuEventRecordWithFlags, value(recorded), value(stream), value(EventRecordFlag.EXTERNAL)));
        assertEquals(0, client.call(DriverEntry.cuStreamWaitEvent, value(stream), value(awaited), value(EventWaitFlag.EXTERNAL)));
        assertEquals(0, client.call(DriverEntry.cuEventRecord, value(plain), value(stream)));
        assertFalse(endsAtOnce(recorded));
        assertFalse(endsAtOnce(awaited));
        assertTrue(endsAtOnce(plain), "an edge is no node");
        captureEnds(stream);
    }

    @Test
    void codeThatIsCapturedOutlivesItsModule() {
        long module = made(DriverEntry.cuModuleLoadDataEx, outBytes(8), in(PTX), value(0), value(0), value(0));
        long function = made(DriverEntry.cuModuleGetFunction, outBytes(8), value(module), text("plain"));
        client.launch(function, 0, NOTHING);
        client.synchronise(0, 1, client.segment().word(1) + 1);
        long stream = capturing();
        client.launch(function, stream, NOTHING); // directly behind the begin
        int ended = executor.driver.ended.size();
        assertEquals(0, client.call(DriverEntry.cuModuleUnload, value(module)));
        assertEquals(ended, executor.driver.ended.size(), "the graph will launch it");
        long graph = captureEnds(stream);
        client.synchronise(0, 1, client.segment().word(1) + 1);
        assertEquals(ended, executor.driver.ended.size(), "the graph may launch it");
        assertEquals(0, client.call(DriverEntry.cuGraphDestroy, value(graph)));
        RelayTestClient.await(() -> {
            client.synchronise(0, 1, client.segment().word(1) + 1);
            return executor.driver.ended.size() > ended;
        }, "the end of the code");
    }

    /** The client has the handle of a captured graph before the end of the capture. */
    @Test
    void aCapturedGraphThatWasThrownAwayIsNobodysAnyMore() {
        long stream = made(DriverEntry.cuStreamCreate, outBytes(8), value(1));
        executor.driver.graphSizes.captureId = 7;
        assertEquals(0, client.call(DriverEntry.cuStreamBeginCapture_v2, value(stream), value(0)));
        executor.driver.capturing = true;
        assertEquals(0,
                client.call(DriverEntry.cuStreamGetCaptureInfo_v2, value(stream), outBytes(4), outBytes(8), outBytes(8), value(0), outBytes(8)));
        long graph = client.outLong(16);
        assertNotEquals(0, graph);
        executor.driver.graphSizes.captureFails = true;
        executor.driver.capturing = false;
        assertEquals(CudaResult.STREAM_CAPTURE_INVALIDATED, client.call(DriverEntry.cuStreamEndCapture, value(stream), outBytes(8)));
        assertEquals(CudaResult.INVALID_HANDLE, client.call(DriverEntry.cuGraphDestroy, value(graph)));
    }

    @Test
    void aGraphThatIsCapturedIntoStays() {
        long graph = graph();
        long stream = made(DriverEntry.cuStreamCreate, outBytes(8), value(1));
        executor.driver.graphSizes.captureId = 7;
        assertEquals(0, client.call(DriverEntry.cuStreamBeginCaptureToGraph, value(stream), value(graph), value(0), value(0), value(0), value(0)));
        executor.driver.capturing = true;
        assertEquals(CudaResult.ILLEGAL_STATE, client.call(DriverEntry.cuGraphDestroy, value(graph)));
        assertEquals(0, client.call(DriverEntry.cuStreamDestroy_v2, value(stream)), "which ends the capture");
        assertTrue(executor.driver.calls.contains("cuStreamEndCapture"));
        assertEquals(0, client.call(DriverEntry.cuGraphDestroy, value(graph)));
    }
}

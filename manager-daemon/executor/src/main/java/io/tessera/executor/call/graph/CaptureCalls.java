package io.tessera.executor.call.graph;

import io.tessera.device.CudaEnums.StreamCaptureMode;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverApi;
import io.tessera.device.DriverEntry;
import io.tessera.device.HandleKind;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.CallRow.StreamUse;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.HandleResults;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.handle.HandleTable;
import io.tessera.executor.part.ProcessorParts;
import io.tessera.executor.stream.ClientContext;
import io.tessera.executor.stream.ClientStream;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;

/** Captures of streams: their start, their end, and queries about them. One owner thread. */
final class CaptureCalls {
    private static final int MOST_DEPENDENCIES = 4096;

    private final DriverCalls driver;
    private final ClientHandles handles;
    private final ClientStreams streams;
    private final GraphBook graphs;
    private final GraphMemoryCalls memory;
    private final HandleResults results;

    CaptureCalls(DriverCalls driver, ClientHandles handles, ClientStreams streams, GraphBook graphs, GraphMemoryCalls memory, HandleResults results) {
        this.driver = driver;
        this.handles = handles;
        this.streams = streams;
        this.graphs = graphs;
        this.memory = memory;
        this.results = results;
    }

    void register(CallTable calls) {
        // The stream cannot be queried during a capture, so another stream waits for its work before the capture.
        calls.row(DriverApi.cuStreamBeginCapture).stream(StreamUse.STATE).prepares(this::settle)
                .executes((frame, _) -> relaxed(frame, 1)).records(frame -> begun(frame.stream(), HandleTable.NONE));
        calls.row(DriverApi.cuStreamBeginCaptureToGraph).stream(StreamUse.STATE).prepares(this::settle)
                .executes((frame, _) -> relaxed(frame, 5)).records(frame -> begun(frame.stream(), frame.argument(1)));
        calls.row(DriverApi.cuStreamEndCapture).stream(StreamUse.STATE).executes(memory::endCapture).records(this::ended).fails(this::failed);
        calls.row(DriverApi.cuStreamGetCaptureInfo).stream(StreamUse.STATE).packed("dependencies_out", "edgeData_out").executes(this::captureInfo);
        calls.row(DriverApi.cuStreamUpdateCaptureDependencies).stream(StreamUse.STATE);
    }

    /** Makes captured kernels keep the processors of their stream. */
    private void settle(CallFrame frame) {
        streams.settle(frame.stream());
        streams.parts().place(frame.stream(), ProcessorParts.WHOLE);
        frame.slot(0, frame.stream().value());
    }

    /** Relaxes the driver's mode: the client decides, in its mode, which calls are unsafe while a stream is captured. */
    private int relaxed(CallFrame frame, int mode) {
        frame.slot(mode, StreamCaptureMode.RELAXED);
        return driver.call(frame.entry(), frame.slots());
    }

    private void begun(ClientStream stream, long into) {
        streams.capturing(stream, true);
        graphs.captureBegins(stream, into);
    }

    private void ended(CallFrame frame) {
        streams.capturing(frame.stream(), false);
        over(frame.stream(), frame.data(1).get(WireTypes.U64, 0));
    }

    private void failed(CallFrame frame) {
        streams.captureFailed(frame.stream());
        over(frame.stream(), HandleTable.NONE);
    }

    private void over(ClientStream stream, long graph) {
        if (!stream.isOriginOfCapture()) {
            long lost = graphs.captureEnds(stream, graph);
            if (lost != HandleTable.NONE) {
                results.ended(HandleKind.GRAPH, lost);
            }
            handles.deferredReleases().captureEnded();
        }
    }

    /** Ends an open capture whose stream is about to be destroyed. If only the capture refers to its graph, the graph ends, too. */
    void end(ClientStream stream) {
        boolean ended = driver.call(DriverEntry.cuStreamEndCapture, stream.value(), driver.out(0)) == CudaResult.SUCCESS;
        long value = ended ? driver.outLong(0) : 0;
        long graph = value == 0 ? HandleTable.NONE : handles.find(HandleKind.GRAPH, value);
        if (value != 0 && graph == HandleTable.NONE) {
            GraphEnd.destroy(driver, value);
        }
        streams.capturing(stream, false);
        over(stream, graph);
    }

    /** cuStreamGetCaptureInfo_v2 and _v3: the driver returns pointers to arrays, the client gets their contents. */
    private int captureInfo(CallFrame frame, ClientContext context) throws RejectedException {
        int count = frame.parameter("numDependencies_out");
        int nodes = frame.parameter("dependencies_out");
        int edges = nodes + 1 == count ? -1 : nodes + 1;
        frame.want(count, Long.BYTES);
        MemorySegment places = frame.room(2L * Long.BYTES);
        frame.slot(nodes, frame.data(nodes) == null ? 0 : places.address());
        if (edges >= 0) {
            frame.slot(edges, frame.data(edges) == null ? 0 : places.address() + Long.BYTES);
        }
        int result = driver.call(frame.entry(), frame.slots());
        if (result != CudaResult.SUCCESS) {
            return result;
        }
        long there = Math.min(MOST_DEPENDENCIES, frame.data(count).get(WireTypes.U64, 0));
        long graph = captured(frame);
        copy(frame, nodes, places.get(WireTypes.U64, 0), there, graph);
        if (edges >= 0) {
            copy(frame, edges, places.get(WireTypes.U64, Long.BYTES), there, -1);
        }
        return result;
    }

    /** Returns the client's handle of the graph that is captured, so that its nodes go away with it. */
    private long captured(CallFrame frame) {
        int place = frame.parameter("graph_out");
        if (frame.data(place) == null) {
            return 0;
        }
        long graph = results.translated(HandleKind.GRAPH, frame.data(place).get(WireTypes.U64, 0), 0, frame.contextNumber());
        graphs.captureIs(frame.slot(0), graph);
        return graph;
    }

    private void copy(CallFrame frame, int parameter, long address, long elements, long graph) {
        MemorySegment wanted = frame.data(parameter);
        if (wanted == null) {
            return;
        }
        wanted.fill((byte) 0);
        long bytes = Math.min(elements * Long.BYTES, frame.outBytes(parameter)) & -Long.BYTES;
        if (address == 0 || bytes == 0) {
            return;
        }
        MemorySegment.copy(MemorySegment.ofAddress(address).reinterpret(bytes), 0, wanted, 0, bytes);
        for (long at = 0; graph >= 0 && at < bytes; at += Long.BYTES) {
            wanted.set(WireTypes.U64, at, results.translated(HandleKind.GRAPH_NODE, wanted.get(WireTypes.U64, at), graph,
                    frame.contextNumber()));
        }
    }
}

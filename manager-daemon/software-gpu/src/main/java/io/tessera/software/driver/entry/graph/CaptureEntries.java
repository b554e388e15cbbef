package io.tessera.software.driver.entry.graph;

import io.tessera.device.CudaEnums.CaptureDependencies;
import io.tessera.device.CudaEnums.StreamCaptureStatus;
import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.context.Capture;
import io.tessera.software.driver.context.CaptureMode;
import io.tessera.software.driver.context.CaptureRules;
import io.tessera.software.driver.context.Stream;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.driver.graph.CudaGraph;
import io.tessera.software.driver.graph.GraphNode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.WeakHashMap;

/** Streams that record their calls as a graph. */
public final class CaptureEntries implements EntryGroup {
    private final DriverState state;
    /** The last answer of a capture's frontier: programs may read it until they ask again. */
    private final Map<Stream, MemorySegment[]> told = Collections.synchronizedMap(new WeakHashMap<>());

    /** Creates an instance over a driver's state. */
    public CaptureEntries(DriverState state) {
        this.state = state;
    }

    @Override
    public void register(EntryTable table) {
        table.on(DriverEntry.cuStreamBeginCapture,
                call -> CaptureRules.begin(call.stream(0), CaptureMode.GLOBAL, null, Map.of()))
                .on(DriverEntry.cuStreamBeginCapture_v2,
                        call -> CaptureRules.begin(call.stream(0), CaptureMode.of(call.number(1)), null, Map.of()))
                .on(DriverEntry.cuStreamBeginCaptureToGraph, call -> CaptureRules.begin(call.stream(0),
                        CaptureMode.of(call.number(5)), call.object(1, CudaGraph.class),
                        GraphHandles.nodes(state, call.word(2), call.word(3), call.word(4))))
                .on(DriverEntry.cuStreamEndCapture, this::end)
                .on(DriverEntry.cuStreamIsCapturing, call -> {
                    long out = call.pointer(1);
                    HostMemory.putInt(out, status(call.stream(0).capture()));
                })
                .on(DriverEntry.cuStreamGetCaptureInfo, call -> info(call, -1, -1))
                .on(DriverEntry.cuStreamGetCaptureInfo_v2, call -> info(call, -1, 5))
                .on(DriverEntry.cuStreamGetCaptureInfo_v3, call -> info(call, 5, 6))
                .on(DriverEntry.cuStreamUpdateCaptureDependencies, call -> update(call, 0, 2, 3))
                .on(DriverEntry.cuStreamUpdateCaptureDependencies_v2, call -> update(call, call.word(2), 3, 4))
                .on(DriverEntry.cuThreadExchangeStreamCaptureMode, call -> {
                    long place = call.pointer(0);
                    CaptureMode next = CaptureMode.of(HostMemory.getInt(place));
                    HostMemory.putInt(place, CaptureRules.exchangeThreadMode(next).ordinal());
                });
    }

    private static int status(Capture capture) {
        return capture == null ? StreamCaptureStatus.NONE : capture.invalidated() ? StreamCaptureStatus.INVALIDATED : StreamCaptureStatus.ACTIVE;
    }

    /** Ends it also where the place for the graph is null: the graph is then dropped. */
    private void end(Call call) {
        DriverException failure = null;
        CudaGraph graph = null;
        try {
            graph = CaptureRules.end(call.stream(0));
        } catch (DriverException e) {
            failure = e;
        }
        call.offerLong(1, graph == null ? 0 : state.handles().of(graph));
        if (failure != null) {
            throw failure;
        }
    }

    private void info(Call call, int edgesIndex, int countIndex) {
        Stream stream = call.stream(0);
        Capture capture = stream.capture();
        call.putInt(1, status(capture));
        if (capture == null || capture.invalidated()) {
            return;
        }
        call.offerLong(2, capture.id());
        if (countIndex < 0) {
            return;
        }
        call.offerLong(3, state.handles().of(capture.graph()));
        Map<GraphNode, Long> frontier = capture.frontier(stream.id());
        tell(call, stream, frontier, edgesIndex);
        call.offerLong(countIndex, frontier.size());
    }

    private void tell(Call call, Stream stream, Map<GraphNode, Long> frontier, int edgesIndex) {
        boolean plain = frontier.values().stream().allMatch(edge -> edge == 0);
        // A caller that does not ask for edges must not be told less than there is.
        DriverException.require(plain || edgesIndex >= 0 && call.given(edgesIndex), CudaError.LOSSY_QUERY);
        Arena arena = Arena.ofAuto();
        MemorySegment nodes = arena.allocate(ValueLayout.JAVA_LONG, Math.max(1, frontier.size()));
        MemorySegment edges = arena.allocate(ValueLayout.JAVA_LONG, Math.max(1, frontier.size()));
        int i = 0;
        for (Map.Entry<GraphNode, Long> entry : frontier.entrySet()) {
            nodes.setAtIndex(ValueLayout.JAVA_LONG, i, state.handles().of(entry.getKey()));
            edges.setAtIndex(ValueLayout.JAVA_LONG, i++, entry.getValue());
        }
        told.put(stream, new MemorySegment[] {nodes, edges});
        call.offerLong(4, nodes.address());
        if (edgesIndex >= 0) {
            call.offerLong(edgesIndex, edges.address());
        }
    }

    private void update(Call call, long edges, int countIndex, int flagsIndex) {
        Stream stream = call.stream(0);
        Capture capture = stream.capture();
        DriverException.require(capture != null, CudaError.ILLEGAL_STATE);
        DriverException.require(!capture.invalidated(), CudaError.STREAM_CAPTURE_INVALIDATED);
        int flags = call.number(flagsIndex);
        DriverException.require(flags == CaptureDependencies.ADD_CAPTURE_DEPENDENCIES || flags == CaptureDependencies.SET_CAPTURE_DEPENDENCIES,
                CudaError.INVALID_VALUE);
        Map<GraphNode, Long> given = GraphHandles.nodes(state, call.word(1), edges, call.word(countIndex));
        Map<GraphNode, Long> next = flags == CaptureDependencies.ADD_CAPTURE_DEPENDENCIES ? new LinkedHashMap<>(capture.frontier(stream.id()))
                : new LinkedHashMap<>();
        next.putAll(given);
        CaptureRules.setFrontier(stream, next);
    }
}

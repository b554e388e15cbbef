package io.tessera.executor.call;

import io.tessera.device.HandleKind;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.stream.ClientContext;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;

/** Graphs and captures: structures with pointers to what follows them (RELAY.md, section 8). One owner thread. */
final class GraphCalls {
    private static final int MOST_DEPENDENCIES = 4096;

    private final ClientState client;
    private final StructureTranslation structures;
    private final HandleResults results;
    private final ClusterNodes clusters;

    GraphCalls(ClientState client, StructureTranslation structures, HandleResults results, ClusterNodes clusters) {
        this.clusters = clusters;
        this.client = client;
        this.structures = structures;
        this.results = results;
    }

    private static int parameter(CallFrame frame, String name) {
        for (int i = 0; i < frame.plan().shapes.length; i++) {
            if (frame.plan().description.parameters().get(i).name().equals(name)) {
                return i;
            }
        }
        throw new IllegalStateException(frame.plan().api() + " has no " + name);
    }

    /** cuStreamGetCaptureInfo_v2 and _v3: the driver answers with pointers to arrays, the client gets their content. */
    int captureInfo(CallFrame frame, ClientContext context) throws RejectedException {
        int count = parameter(frame, "numDependencies_out");
        int nodes = parameter(frame, "dependencies_out");
        int edges = nodes + 1 == count ? -1 : nodes + 1;
        frame.want(count, Long.BYTES);
        MemorySegment places = frame.room(2L * Long.BYTES);
        frame.slot(nodes, frame.data(nodes) == null ? 0 : places.address());
        if (edges >= 0) {
            frame.slot(edges, frame.data(edges) == null ? 0 : places.address() + Long.BYTES);
        }
        int result = client.driver().call(frame.plan().entry(), frame.slots());
        if (result != CudaResult.SUCCESS) {
            return result;
        }
        long there = Math.min(MOST_DEPENDENCIES, frame.data(count).get(WireTypes.U64, 0));
        long graph = captured(frame, context);
        copy(frame, nodes, places.get(WireTypes.U64, 0), there, graph, context);
        if (edges >= 0) {
            copy(frame, edges, places.get(WireTypes.U64, Long.BYTES), there, -1, context);
        }
        return result;
    }

    /** The client's handle of the graph that is captured, so that its nodes go away with it. */
    private long captured(CallFrame frame, ClientContext context) {
        int place = parameter(frame, "graph_out");
        if (frame.data(place) == null) {
            return 0;
        }
        long graph = results.translated(HandleKind.GRAPH, frame.data(place).get(WireTypes.U64, 0), 0, number(context));
        client.graphs().captureIs(frame.slot(0), graph);
        return graph;
    }

    private void copy(CallFrame frame, int parameter, long address, long elements, long graph, ClientContext context) {
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
                    number(context)));
        }
    }

    /** The launch configuration of cluster occupancy, and behind it its attributes. */
    int clusters(CallFrame frame, ClientContext context) throws RejectedException {
        int i = parameter(frame, "config");
        MemorySegment config = frame.required(i);
        long attributes = config.byteSize() < 56 ? -1 : Integer.toUnsignedLong(config.get(WireTypes.U32, 48));
        if (attributes < 0 || attributes > 64 || frame.inBytes(i) < 56 + attributes * 72) {
            throw CallFrame.malformed("a configuration of " + frame.inBytes(i) + " bytes");
        }
        for (long at = 0; at < attributes; at++) {
            structures.in(config.asSlice(56 + at * 72, 72), "CUlaunchAttribute");
        }
        config.set(WireTypes.U64, 32, 0);
        config.set(WireTypes.U64, 40, attributes == 0 ? 0 : config.address() + 56);
        return client.driver().call(frame.plan().entry(), frame.slots());
    }

    /** Parameters: executable graph, graph, and where it did not fit: a node, or a structure with two. */
    int update(CallFrame frame, ClientContext context) {
        clusters.updates();
        int result = client.driver().call(frame.plan().entry(), frame.slots());
        boolean structure = frame.plan().description.parameters().get(2).type().equals("CUgraphExecUpdateResultInfo");
        if (structure && frame.data(2) != null) {
            structures.out(frame.data(2), "CUgraphExecUpdateResultInfo", frame.said(1), number(context));
        } else if (result != CudaResult.SUCCESS && frame.data(2) != null) {
            frame.data(2).set(WireTypes.U64, 0, 0); // the driver's own handle: nobody translates it beside an error
        }
        return result;
    }

    /** Parameters: executable graph, graph, and a structure with a stream and where it went wrong. */
    int instantiate(CallFrame frame, ClientContext context) throws RejectedException {
        MemorySegment asked = frame.required(2);
        structures.in(asked, "CUDA_GRAPH_INSTANTIATE_PARAMS");
        asked.set(WireTypes.U64, 16, 0);
        int result = client.driver().call(frame.plan().entry(), frame.slots());
        structures.out(asked, "CUDA_GRAPH_INSTANTIATE_PARAMS", frame.said(1), number(context));
        return result;
    }

    private static int number(ClientContext context) {
        return context == null ? 0 : context.number();
    }

    /** Parameters: stream, graph, dependencies, their edges, count, mode: whose calls are unsafe the client decides. */
    int captureToGraph(CallFrame frame, ClientContext context) {
        frame.slot(5, DeviceContext.CAPTURE_RELAXED);
        return client.driver().call(frame.plan().entry(), frame.slots());
    }
}

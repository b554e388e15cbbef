package io.tessera.executor.session;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.HandleKind;
import io.tessera.executor.call.ClientAllocations;
import io.tessera.executor.call.ClientExecution;
import io.tessera.executor.call.dispatch.CallExecutor;
import io.tessera.executor.call.graph.GraphEnd;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.FatalErrors;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.handle.HandleTable;
import io.tessera.executor.ipc.ClientExports;
import io.tessera.executor.memory.ClientCharge;
import io.tessera.executor.memory.ClientMemory;
import io.tessera.executor.memory.MemoryRange;
import io.tessera.executor.pool.ClientPools;
import io.tessera.executor.stream.ClientContext;
import io.tessera.executor.stream.ClientStream;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.executor.window.ClientWindow;
import java.util.List;
import java.util.Map;

/**
 * Frees what a client, or one of its contexts, has: graphs, events, streams, modules, memory, in this order (RELAY.md,
 * section 7). One owner thread.
 */
final class ClientResources {
    private static final List<HandleKind> BEFORE_MEMORY = List.of(HandleKind.GRAPH_EXEC, HandleKind.GRAPH,
            HandleKind.EVENT, HandleKind.STREAM, HandleKind.TEXTURE, HandleKind.SURFACE, HandleKind.LINKER,
            HandleKind.MODULE, HandleKind.LIBRARY);
    private static final List<HandleKind> AFTER_MEMORY = List.of(HandleKind.ALLOCATION, HandleKind.ARRAY, HandleKind.MIPMAP);
    private static final Map<HandleKind, DriverEntry> ENDS = Map.ofEntries(
            Map.entry(HandleKind.GRAPH_EXEC, DriverEntry.cuGraphExecDestroy),
            Map.entry(HandleKind.STREAM, DriverEntry.cuStreamDestroy_v2),
            Map.entry(HandleKind.ALLOCATION, DriverEntry.cuMemRelease));
    private static final int ALL = -1;

    private final DriverCalls driver;
    private final ClientHandles handles;
    private final ClientStreams streams;
    private final ClientMemory memory;
    private final ClientCharge charge;
    private final ClientWindow window;
    private final ClientPools pools;
    private final ClientExports exports;
    private final CallExecutor calls;

    ClientResources(ClientExecution execution, ClientAllocations allocations, CallExecutor calls) {
        this.driver = execution.driver();
        this.handles = execution.handles();
        this.streams = execution.streams();
        this.memory = allocations.memory();
        this.charge = allocations.charge();
        this.window = allocations.window();
        this.pools = allocations.pools();
        this.exports = allocations.exports();
        this.calls = calls;
    }

    /** Frees what was made in a context, and ends it. Returns SUCCESS or the first fatal CUresult. */
    int free(ClientContext context) {
        int result = free(context.number());
        streams.destroyContext(context);
        return result;
    }

    /** Frees everything. Returns SUCCESS or the first fatal CUresult. */
    int freeAll() {
        int result = free(ALL);
        streams.contexts().forEach(streams::destroyContext);
        return result;
    }

    private int free(int context) {
        int result = CudaResult.SUCCESS;
        endCaptures(context);
        for (HandleKind kind : BEFORE_MEMORY) {
            result = worse(result, free(kind, context));
        }
        for (MemoryRange range : memory.ofContext(context)) {
            result = worse(result, free(range));
        }
        for (HandleKind kind : AFTER_MEMORY) {
            result = worse(result, free(kind, context));
        }
        return result;
    }

    /** Ends open captures before their graphs and streams end. Drivers do not check that order. */
    private void endCaptures(int context) {
        for (ClientContext each : streams.contexts()) {
            if (context == ALL || each.number() == context) {
                each.captured().forEach(calls::endCapture);
            }
        }
    }

    private static int worse(int known, int result) {
        return known == CudaResult.SUCCESS && FatalErrors.isFatal(result) ? result : known;
    }

    private int free(HandleKind kind, int context) {
        int result = CudaResult.SUCCESS;
        for (long handle : handles.ofContext(kind, context)) {
            long value = handles.value(kind, handle);
            boolean child = !kind.deviceValue() && handles.table(kind).hasParent(handle);
            if (value == HandleTable.NONE || child) {
                continue; // is freed with another object
            }
            if (kind == HandleKind.STREAM
                    && handles.table(HandleKind.STREAM).attachment(handle) instanceof ClientStream stream) {
                streams.destroying(stream);
            }
            int references = Math.max(1, kind.deviceValue() ? 1 : handles.table(kind).references(handle));
            boolean counted = kind == HandleKind.ALLOCATION;
            for (int i = 0; i < (counted ? references : 1); i++) {
                result = worse(result, end(kind, value));
                calls.freed(kind, handle);
            }
        }
        return result;
    }

    private int end(HandleKind kind, long value) {
        return switch (kind) {
            case MODULE, LIBRARY, TEXTURE, SURFACE, ARRAY, MIPMAP -> calls.end(kind, value);
            case LINKER -> CudaResult.SUCCESS; // the executor's own, which ends with the client
            case GRAPH -> GraphEnd.destroy(driver, value);
            case EVENT -> exports.destroyEvent(value);
            default -> driver.call(ENDS.get(kind), value);
        };
    }

    private int free(MemoryRange range) {
        switch (range.origin()) {
            case ALLOCATED -> {
                if (!exports.keeps(range)) {
                    pools.free(range.address());
                }
            }
            case POOLED -> pools.free(range.address());
            case OPENED -> exports.closeWholly(range.address());
            case MAPPED, SHUT -> {
                return calls.unmapped(range);
            }
            case RESERVED -> window.release(range.address());
            case GLOBAL, GRAPH, PINNED -> { // freed with another object
            }
        }
        if (range.origin() != MemoryRange.Origin.PINNED) {
            memory.remove(range);
            charge.giveBack(range.charged());
        }
        return CudaResult.SUCCESS;
    }
}

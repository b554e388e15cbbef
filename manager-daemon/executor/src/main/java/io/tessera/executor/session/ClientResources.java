package io.tessera.executor.session;

import io.tessera.device.DriverEntry;
import io.tessera.device.HandleKind;
import io.tessera.executor.call.ClientState;
import io.tessera.executor.call.dispatch.CallExecutor;
import io.tessera.executor.call.graph.GraphEnd;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.handle.HandleTable;
import io.tessera.executor.memory.MemoryRange;
import io.tessera.executor.stream.ClientContext;
import io.tessera.executor.stream.ClientStream;
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

    private final ClientState client;
    private final DriverCalls driver;
    private final CallExecutor calls;

    ClientResources(ClientState client, CallExecutor calls) {
        this.client = client;
        this.driver = client.driver();
        this.calls = calls;
    }

    /** Frees what was made in a context, and ends it. Returns SUCCESS or the first fatal CUresult. */
    int free(ClientContext context) {
        int result = free(context.number());
        client.streams().destroyContext(context);
        return result;
    }

    /** Frees everything. Returns SUCCESS or the first fatal CUresult. */
    int freeAll() {
        int result = free(ALL);
        client.streams().contexts().forEach(client.streams()::destroyContext);
        return result;
    }

    private int free(int context) {
        int result = CudaResult.SUCCESS;
        for (HandleKind kind : BEFORE_MEMORY) {
            result = worse(result, free(kind, context));
        }
        for (MemoryRange range : client.memory().ofContext(context)) {
            result = worse(result, free(range));
        }
        for (HandleKind kind : AFTER_MEMORY) {
            result = worse(result, free(kind, context));
        }
        return result;
    }

    private static int worse(int known, int result) {
        return known == CudaResult.SUCCESS && CudaResult.isFatal(result) ? result : known;
    }

    private int free(HandleKind kind, int context) {
        int result = CudaResult.SUCCESS;
        for (long handle : client.handles().ofContext(kind, context)) {
            long value = client.handles().value(kind, handle);
            boolean child = !kind.deviceValue() && client.handles().table(kind).hasParent(handle);
            if (value == HandleTable.NONE || child) {
                continue; // goes away with something else
            }
            if (kind == HandleKind.STREAM
                    && client.handles().table(HandleKind.STREAM).attachment(handle) instanceof ClientStream stream) {
                client.streams().destroying(stream);
                client.fences().watchdog().forget(stream.value());
            }
            int references = Math.max(1, kind.deviceValue() ? 1 : client.handles().table(kind).references(handle));
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
            case LINKER -> CudaResult.SUCCESS; // the executor's own, which goes with the client
            case GRAPH -> GraphEnd.destroy(driver, value);
            case EVENT -> client.exports().destroyEvent(value);
            default -> driver.call(ENDS.get(kind), value);
        };
    }

    private int free(MemoryRange range) {
        switch (range.origin()) {
            case ALLOCATED -> {
                if (!client.exports().keeps(range)) {
                    client.pools().free(range.address());
                }
            }
            case POOLED -> client.pools().free(range.address());
            case OPENED -> client.exports().closeWholly(range.address());
            case MAPPED, SHUT -> {
                return calls.unmapped(range);
            }
            case RESERVED -> client.window().release(range.address());
            case GLOBAL, GRAPH, PINNED -> { // go with something else
            }
        }
        if (range.origin() != MemoryRange.Origin.PINNED) {
            client.memory().remove(range);
            client.charge().giveBack(range.charged());
        }
        return CudaResult.SUCCESS;
    }
}

package io.tessera.executor.call;

import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DeviceContext;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The entries that are not called the generic way, by the name that programs write. Stateless. */
final class SpecialCalls {
    /** Launch attributes that streams have, by their bits: access policy, synchronisation policy, priority, memory domains. */
    private static final long OF_STREAMS = 1 << 1 | 1 << 3 | 1 << 8 | 1 << 9 | 1 << 10;
    /** What travels packed and is not unpacked here yet: refused by name, never half done. */
    private static final List<String> NOT_SERVED = List.of("cuMemcpy3DBatchAsync");

    private SpecialCalls() {
    }

    /** For one client. */
    static Map<String, SpecialCall> of(ClientState client, HandleResults results, AddressCheck addresses,
            CopyStructures copies, VirtualMemoryCalls virtual, GraphMemoryCalls graphMemory, Endings endings) {
        Map<String, SpecialCall> calls = new HashMap<>();
        ModuleCalls modules = new ModuleCalls(client, endings);
        calls.put("cuModuleLoadData", modules::load);
        calls.put("cuModuleLoadFatBinary", modules::load);
        calls.put("cuModuleLoadDataEx", modules::loadEx);
        calls.put("cuLibraryLoadData", modules::library);
        calls.put("cuModuleGetFunction", modules::kernel);
        calls.put("cuLibraryGetKernel", modules::kernel);
        new KernelLists(client).register(calls);
        calls.put("cuModuleUnload", modules::unload);
        calls.put("cuLibraryUnload", modules::unload);
        calls.put("cuLibraryGetModule", modules::moduleOfLibrary);
        calls.put("cuModuleGetGlobal", modules::global);
        calls.put("cuLibraryGetGlobal", modules::global);
        for (String api : List.of("cuFuncSetAttribute", "cuFuncSetCacheConfig", "cuFuncSetSharedMemConfig",
                "cuKernelSetAttribute", "cuKernelSetCacheConfig")) {
            calls.put(api, modules::changed);
        }
        calls.put("cuKernelGetName", modules::name);
        calls.put("cuFuncGetName", modules::name);
        PoolCalls pools = new PoolCalls(client, results);
        pools.register(calls);
        new AllocationCalls(client, pools, graphMemory).register(calls);
        virtual.register(calls);
        graphMemory.register(calls);
        new LimitCalls(client).register(calls);
        calls.put("cuStreamBeginCapture", (frame, context) -> {
            frame.slot(1, DeviceContext.CAPTURE_RELAXED);
            return client.driver().call(frame.plan().entry(), frame.slots());
        });
        StructureTranslation structures = new StructureTranslation(client, addresses, results);
        NodeStructures nodes = new NodeStructures(client, structures, copies, addresses);
        new LinkCalls(client).register(calls);
        ClusterNodes clusters = new ClusterNodes(client);
        new NodeCalls(client, structures, nodes, graphMemory, results, clusters).register(calls);
        new NodeQueries(client, nodes, graphMemory, results).register(calls);
        new ArrayCalls(client).register(calls);
        new ResourceCalls(client, structures, addresses, endings).register(calls);
        new TensorMapCalls(client, addresses).register(calls);
        new IpcCalls(client).register(calls);
        graphs(calls, new GraphCalls(client, structures, results, clusters));
        calls.put("cuStreamSetAttribute", (frame, context) -> {
            if (frame.slot(1) < 0 || frame.slot(1) >= Long.SIZE || (OF_STREAMS >> frame.slot(1) & 1) == 0) {
                return CudaResult.INVALID_VALUE;
            }
            structures.attribute((int) frame.slot(1), frame.required(2));
            return client.driver().call(frame.plan().entry(), frame.slots());
        });
        for (String api : NOT_SERVED) {
            calls.put(api, (frame, context) -> CudaResult.NOT_SUPPORTED);
        }
        return calls;
    }

    private static void graphs(Map<String, SpecialCall> calls, GraphCalls graphs) {
        calls.put("cuStreamGetCaptureInfo", graphs::captureInfo);
        calls.put("cuStreamBeginCaptureToGraph", graphs::captureToGraph);
        calls.put("cuOccupancyMaxPotentialClusterSize", graphs::clusters);
        calls.put("cuOccupancyMaxActiveClusters", graphs::clusters);
        calls.put("cuGraphExecUpdate", graphs::update);
        calls.put("cuGraphInstantiateWithParams", graphs::instantiate);
    }
}

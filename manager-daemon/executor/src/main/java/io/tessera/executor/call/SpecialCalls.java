package io.tessera.executor.call;

import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DeviceContext;
import java.util.HashMap;
import java.util.Map;

/** The entries that are not called the generic way, by the name that programs write. Stateless. */
final class SpecialCalls {
    private SpecialCalls() {
    }

    /** For one client. */
    static Map<String, SpecialCall> of(ClientState client, HandleResults results, AddressCheck addresses) {
        Map<String, SpecialCall> calls = new HashMap<>();
        ModuleCalls modules = new ModuleCalls(client);
        calls.put("cuModuleLoadData", modules::load);
        calls.put("cuModuleLoadFatBinary", modules::load);
        calls.put("cuModuleLoadDataEx", modules::loadEx);
        calls.put("cuLibraryLoadData", modules::library);
        calls.put("cuKernelGetName", modules::name);
        calls.put("cuFuncGetName", modules::name);
        PoolCalls pools = new PoolCalls(client, results);
        calls.put("cuDeviceGetDefaultMemPool", pools::standard);
        calls.put("cuDeviceGetMemPool", pools::current);
        calls.put("cuDeviceSetMemPool", pools::setCurrent);
        calls.put("cuMemAllocAsync", pools::allocate);
        calls.put("cuCtxSetLimit", new LimitCalls(client)::set);
        calls.put("cuStreamBeginCapture", (frame, context) -> {
            frame.slot(1, DeviceContext.CAPTURE_RELAXED);
            return client.driver().call(frame.plan().entry(), frame.slots());
        });
        // Whose parameters hold pointers or contexts, and what is not unpacked yet.
        for (String api : new String[] {"cuLinkCreate", "cuLinkAddData", "cuLinkComplete",
                "cuOccupancyMaxPotentialClusterSize", "cuOccupancyMaxActiveClusters", "cuGraphAddKernelNode",
                "cuGraphKernelNodeGetParams", "cuGraphKernelNodeSetParams", "cuGraphExecKernelNodeSetParams",
                "cuGraphAddBatchMemOpNode", "cuGraphBatchMemOpNodeGetParams", "cuGraphBatchMemOpNodeSetParams",
                "cuGraphExecBatchMemOpNodeSetParams", "cuGraphAddHostNode", "cuGraphHostNodeGetParams",
                "cuGraphHostNodeSetParams", "cuGraphExecHostNodeSetParams", "cuGraphAddMemAllocNode",
                "cuGraphMemAllocNodeGetParams", "cuGraphAddMemFreeNode", "cuGraphAddNode", "cuGraphNodeSetParams",
                "cuGraphExecNodeSetParams", "cuGraphAddMemcpyNode", "cuGraphMemcpyNodeGetParams",
                "cuGraphMemcpyNodeSetParams", "cuGraphExecMemcpyNodeSetParams", "cuGraphAddMemsetNode",
                "cuGraphMemsetNodeSetParams", "cuGraphExecMemsetNodeSetParams", "cuTexObjectCreate",
                "cuSurfObjectCreate", "cuTexObjectGetResourceDesc", "cuSurfObjectGetResourceDesc",
                "cuStreamBeginCaptureToGraph", "cuMemcpy3DBatchAsync", "cuStreamGetAttribute", "cuStreamSetAttribute"}) {
            calls.putIfAbsent(api, (frame, context) -> CudaResult.NOT_SUPPORTED);
        }
        return calls;
    }
}

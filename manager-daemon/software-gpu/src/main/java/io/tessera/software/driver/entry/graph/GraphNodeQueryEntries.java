package io.tessera.software.driver.entry.graph;

import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.abi.StructLayouts.LaunchAttribute;
import io.tessera.software.driver.abi.StructLayouts.MemAllocNode;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.driver.entry.launch.LaunchAttributes;
import io.tessera.software.driver.entry.launch.LaunchRequest;
import io.tessera.software.driver.graph.CudaGraph.ChildGraph;
import io.tessera.software.driver.graph.GraphNode;
import io.tessera.software.driver.graph.MemoryAllocate;
import io.tessera.software.driver.graph.MemoryFree;
import io.tessera.software.driver.operation.Copy;
import io.tessera.software.driver.operation.EventRecord;
import io.tessera.software.driver.operation.EventWait;
import io.tessera.software.driver.operation.Fill;
import io.tessera.software.driver.operation.HostFunction;
import io.tessera.software.driver.operation.KernelLaunch;
import io.tessera.software.driver.operation.MemoryWords;
import io.tessera.software.driver.work.Operation;
import java.util.HashMap;
import java.util.Map;

/** Queries of nodes, and the attributes of kernel nodes. */
public final class GraphNodeQueryEntries implements EntryGroup {
    private final DriverState state;
    private final NodeParameters parameters;

    /** Creates an instance over a driver's state. */
    public GraphNodeQueryEntries(DriverState state) {
        this.state = state;
        parameters = new NodeParameters(state);
    }

    @Override
    public void register(EntryTable table) {
        table.on(DriverEntry.cuGraphKernelNodeGetParams,
                call -> parameters.tell(node(call, 0), of(call, KernelLaunch.class), call.pointer(1), false))
                .on(DriverEntry.cuGraphKernelNodeGetParams_v2,
                        call -> parameters.tell(node(call, 0), of(call, KernelLaunch.class), call.pointer(1), true))
                .on(DriverEntry.cuGraphKernelNodeSetParams, call -> setKernel(call, false))
                .on(DriverEntry.cuGraphKernelNodeSetParams_v2, call -> setKernel(call, true))
                .on(DriverEntry.cuGraphMemcpyNodeGetParams,
                        call -> NodeParameters.tell(of(call, Copy.class).description(), call.pointer(1)))
                .on(DriverEntry.cuGraphMemsetNodeGetParams,
                        call -> NodeParameters.tell(of(call, Fill.class), call.pointer(1)))
                .on(DriverEntry.cuGraphHostNodeGetParams, call -> {
                    HostFunction host = of(call, HostFunction.class);
                    HostMemory.putLong(call.pointer(1), host.function());
                    HostMemory.putLong(call.pointer(1) + 8, host.userData());
                })
                .on(DriverEntry.cuGraphBatchMemOpNodeGetParams,
                        call -> parameters.tell(node(call, 0), of(call, MemoryWords.class), call.pointer(1),
                                call.context()))
                .on(DriverEntry.cuGraphChildGraphNodeGetGraph,
                        call -> call.putLong(1, state.handles().of(of(call, ChildGraph.class).graph())))
                .on(DriverEntry.cuGraphEventRecordNodeGetEvent,
                        call -> call.putLong(1, state.handles().of(of(call, EventRecord.class).event())))
                .on(DriverEntry.cuGraphEventWaitNodeGetEvent,
                        call -> call.putLong(1, state.handles().of(of(call, EventWait.class).event())))
                .on(DriverEntry.cuGraphMemAllocNodeGetParams, call -> HostMemory.put(call.pointer(1),
                        of(call, MemoryAllocate.class).memory().parameters(), MemAllocNode.BYTES))
                .on(DriverEntry.cuGraphMemFreeNodeGetParams,
                        call -> call.putLong(1, of(call, MemoryFree.class).memory().allocation().address()));
        registerAttributes(table);
    }

    private void registerAttributes(EntryTable table) {
        table.on(DriverEntry.cuGraphKernelNodeGetAttribute, call -> {
            byte[] value = of(call, KernelLaunch.class).attributes().get(LaunchAttributes.known(call.number(1)));
            HostMemory.put(call.pointer(2), value == null ? new byte[LaunchAttribute.VALUE_BYTES] : value,
                    LaunchAttribute.VALUE_BYTES);
        }).on(DriverEntry.cuGraphKernelNodeSetAttribute, call -> {
            KernelLaunch launch = of(call, KernelLaunch.class);
            Map<Integer, byte[]> attributes = new HashMap<>(launch.attributes());
            attributes.put(LaunchAttributes.known(call.number(1)),
                    HostMemory.get(call.pointer(2), LaunchAttribute.VALUE_BYTES));
            node(call, 0).setOperation(LaunchRequest.withAttributes(launch, attributes));
        }).on(DriverEntry.cuGraphKernelNodeCopyAttributes, call -> {
            KernelLaunch target = of(call, KernelLaunch.class);
            DriverException.require(node(call, 1).operation() instanceof KernelLaunch, CudaError.INVALID_VALUE);
            KernelLaunch source = (KernelLaunch) node(call, 1).operation();
            node(call, 0).setOperation(LaunchRequest.withAttributes(target, source.attributes()));
        });
    }

    private static GraphNode node(Call call, int index) {
        return call.object(index, GraphNode.class);
    }

    private static <T extends Operation> T of(Call call, Class<T> type) {
        Operation operation = node(call, 0).operation();
        DriverException.require(type.isInstance(operation), CudaError.INVALID_VALUE);
        return type.cast(operation);
    }

    private void setKernel(Call call, boolean withKernel) {
        KernelLaunch before = of(call, KernelLaunch.class);
        node(call, 0).setOperation(parameters.kernel(call.pointer(1), withKernel, before.attributes()));
    }
}

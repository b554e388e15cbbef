package io.tessera.software.driver.entry.graph;

import io.tessera.device.CudaEnums.InstantiateFlag;
import io.tessera.device.CudaEnums.InstantiateResult;
import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.abi.StructLayouts.InstantiateParams;
import io.tessera.software.driver.abi.StructLayouts.NodeParams;
import io.tessera.software.driver.abi.StructLayouts.UpdateResult;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.driver.graph.CudaGraph;
import io.tessera.software.driver.graph.CudaGraph.ChildGraph;
import io.tessera.software.driver.graph.GraphExec;
import io.tessera.software.driver.graph.GraphNode;
import io.tessera.software.driver.graph.GraphUpdate;
import io.tessera.software.driver.operation.Action;
import io.tessera.software.driver.operation.EventRecord;
import io.tessera.software.driver.operation.EventWait;
import io.tessera.software.driver.operation.KernelLaunch;
import io.tessera.software.driver.work.Event;
import io.tessera.software.driver.work.Operation;
import io.tessera.software.driver.work.Task;
import java.util.Map;

/** Executable graphs. */
public final class GraphExecEntries implements EntryGroup {
    private static final long DEVICE_LAUNCH = InstantiateFlag.DEVICE_LAUNCH;
    private static final long KNOWN_FLAGS = InstantiateFlag.AUTO_FREE_ON_LAUNCH | InstantiateFlag.UPLOAD | InstantiateFlag.DEVICE_LAUNCH
            | InstantiateFlag.USE_NODE_PRIORITY;

    private final DriverState state;
    private final NodeParameters parameters;

    /** Creates an instance over a driver's state. */
    public GraphExecEntries(DriverState state) {
        this.state = state;
        parameters = new NodeParameters(state);
    }

    @Override
    public void register(EntryTable table) {
        table.on(call -> {
            instantiate(call, 0);
            call.offerLong(2, 0);
            if (call.given(3) && call.word(4) > 0) {
                HostMemory.putByte(call.word(3), (byte) 0);
            }
        }, DriverEntry.cuGraphInstantiate, DriverEntry.cuGraphInstantiate_v2)
                .on(DriverEntry.cuGraphInstantiateWithFlags, call -> instantiate(call, call.word(2)))
                .on(DriverEntry.cuGraphInstantiateWithParams, call -> {
                    long place = call.pointer(2);
                    instantiate(call, HostMemory.getLong(place + InstantiateParams.FLAGS));
                    HostMemory.putLong(place + InstantiateParams.ERROR_NODE, 0);
                    HostMemory.putInt(place + InstantiateParams.RESULT, InstantiateResult.SUCCESS);
                })
                .on(DriverEntry.cuGraphLaunch, call -> call.stream(1).launch(exec(call)))
                .on(DriverEntry.cuGraphUpload, call -> {
                    exec(call);
                    call.stream(1);
                })
                .on(DriverEntry.cuGraphExecDestroy, this::destroy)
                .on(DriverEntry.cuGraphExecGetFlags, call -> call.putLong(1, exec(call).flags()))
                .on(DriverEntry.cuGraphExecUpdate, call -> {
                    GraphUpdate update = exec(call).update(call.object(1, CudaGraph.class));
                    call.offerLong(2, handle(update.errorNode()));
                    call.offerInt(3, update.result());
                    DriverException.require(update.accepted(), CudaError.GRAPH_EXEC_UPDATE_FAILURE);
                })
                .on(DriverEntry.cuGraphExecUpdate_v2, this::update)
                .on(DriverEntry.cuGraphNodeGetEnabled,
                        call -> call.putInt(2, exec(call).enabled(node(call)) ? 1 : 0))
                .on(DriverEntry.cuGraphNodeSetEnabled, call -> exec(call).setEnabled(node(call), call.number(2) != 0));
        registerChanges(table);
    }

    private void registerChanges(EntryTable table) {
        table.on(DriverEntry.cuGraphExecKernelNodeSetParams, call -> setKernel(call, false))
                .on(DriverEntry.cuGraphExecKernelNodeSetParams_v2, call -> setKernel(call, true))
                .on(DriverEntry.cuGraphExecMemcpyNodeSetParams, call -> set(call, parameters.copy(call.pointer(2))))
                .on(DriverEntry.cuGraphExecMemsetNodeSetParams, call -> set(call, parameters.fill(call.pointer(2))))
                .on(DriverEntry.cuGraphExecHostNodeSetParams,
                        call -> set(call, NodeParameters.host(call.pointer(2))))
                .on(DriverEntry.cuGraphExecBatchMemOpNodeSetParams,
                        call -> set(call, parameters.words(call.pointer(2))))
                .on(DriverEntry.cuGraphExecEventRecordNodeSetEvent,
                        call -> set(call, new EventRecord(call.object(2, Event.class))))
                .on(DriverEntry.cuGraphExecEventWaitNodeSetEvent,
                        call -> set(call, new EventWait(call.object(2, Event.class))))
                .on(DriverEntry.cuGraphExecChildGraphNodeSetParams,
                        call -> set(call, new ChildGraph(call.object(2, CudaGraph.class))))
                .on(DriverEntry.cuGraphExecNodeSetParams, call -> {
                    long place = call.pointer(2);
                    int type = HostMemory.getInt(place + NodeParams.TYPE);
                    DriverException.require(type != 10 && type != 11, CudaError.NOT_SUPPORTED);
                    set(call, parameters.of(type, place + NodeParams.BODY, call.context()));
                });
    }

    private static GraphExec exec(Call call) {
        return call.object(0, GraphExec.class);
    }

    private static GraphNode node(Call call) {
        return call.object(1, GraphNode.class);
    }

    private long handle(GraphNode node) {
        return node == null ? 0 : state.handles().of(node);
    }

    private void instantiate(Call call, long flags) {
        long out = call.pointer(0);
        DriverException.require((flags & ~KNOWN_FLAGS) == 0, CudaError.INVALID_VALUE);
        DriverException.require((flags & DEVICE_LAUNCH) == 0, CudaError.NOT_SUPPORTED);
        HostMemory.putLong(out, state.handles().of(new GraphExec(call.object(1, CudaGraph.class), flags)));
    }

    private static void set(Call call, Operation operation) {
        exec(call).setOperation(node(call), operation);
    }

    private void setKernel(Call call, boolean withKernel) {
        Operation before = exec(call).twin(node(call)).operation();
        DriverException.require(before instanceof KernelLaunch, CudaError.INVALID_VALUE);
        set(call, parameters.kernel(call.pointer(2), withKernel, before instanceof KernelLaunch launch
                ? launch.attributes() : Map.of()));
    }

    private void update(Call call) {
        long place = call.pointer(2);
        GraphUpdate update = exec(call).update(call.object(1, CudaGraph.class));
        HostMemory.putInt(place + UpdateResult.RESULT, update.result());
        HostMemory.putLong(place + UpdateResult.ERROR_NODE, handle(update.errorNode()));
        HostMemory.putLong(place + UpdateResult.ERROR_FROM, handle(update.errorFrom()));
        DriverException.require(update.accepted(), CudaError.GRAPH_EXEC_UPDATE_FAILURE);
    }

    /** A launch in progress continues; the graph's objects are released when it has ended. */
    private void destroy(Call call) {
        GraphExec exec = exec(call);
        state.handles().remove(exec);
        Task last = exec.lastLaunch();
        if (last == null || last.isDone()) {
            exec.destroy();
        } else {
            new Task(new Action(exec::destroy), last.fault(), last.output(), last.runner()).after(last).submit();
        }
    }
}

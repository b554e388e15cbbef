package io.tessera.software.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.DriverEntry;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Graphs built by hand: nodes, edges, instantiation, update, launch. */
@Timeout(180)
class GraphsTest {
    private final Port port = new Port();
    private final long add = port.function(Kernels.ADD, "add");
    private final long data = port.alloc(4 * 32);
    private final long graph = port.made(DriverEntry.cuGraphCreate, 0);
    private final long stream = port.stream();

    @AfterEach
    void close() {
        port.close();
    }

    private MemorySegment kernel(int more) {
        MemorySegment node = port.arena.allocate(72, 8);
        node.set(ValueLayout.JAVA_LONG, 0, add);
        for (int i = 0; i < 6; i++) {
            node.set(ValueLayout.JAVA_INT, 8 + 4 * i, i == 3 ? 32 : 1);
        }
        node.set(ValueLayout.JAVA_LONG, 40, port.parameters(data, more).address());
        return node;
    }

    private MemorySegment fill(int value) {
        MemorySegment node = port.arena.allocate(40, 8);
        node.set(ValueLayout.JAVA_LONG, 0, data);
        node.set(ValueLayout.JAVA_INT, 16, value);
        node.set(ValueLayout.JAVA_INT, 20, 4);
        node.set(ValueLayout.JAVA_LONG, 24, 32);
        node.set(ValueLayout.JAVA_LONG, 32, 1);
        return node;
    }

    private MemorySegment one(long handle) {
        return port.arena.allocateFrom(ValueLayout.JAVA_LONG, handle);
    }

    private long addKernel(int more, long... after) {
        return port.made(DriverEntry.cuGraphAddKernelNode_v2, graph, after.length == 0 ? 0
                : port.arena.allocateFrom(ValueLayout.JAVA_LONG, after), (long) after.length, kernel(more));
    }

    private long addFill(int value) {
        return port.made(DriverEntry.cuGraphAddMemsetNode, graph, 0, 0L, fill(value), 0);
    }

    private long instantiate() {
        return port.made(DriverEntry.cuGraphInstantiateWithFlags, graph, 0L);
    }

    private int result(long exec) {
        port.ok(DriverEntry.cuGraphLaunch, exec, stream);
        port.ok(DriverEntry.cuStreamSynchronize, stream);
        return port.readInts(data, 32)[31];
    }

    private long count(DriverEntry entry, Object... arguments) {
        MemorySegment count = port.arena.allocate(8, 8);
        Object[] all = Arrays.copyOf(arguments, arguments.length + 1);
        all[arguments.length] = count;
        port.ok(entry, all);
        return count.get(ValueLayout.JAVA_LONG, 0);
    }

    @Test
    void nodesRunInTheOrderOfTheirEdges() {
        long fill = addFill(100);
        long first = addKernel(1, fill);
        long second = addKernel(10, first);
        assertEquals(3, count(DriverEntry.cuGraphGetNodes, graph, 0));
        assertEquals(1, count(DriverEntry.cuGraphGetRootNodes, graph, 0));
        assertEquals(2, count(DriverEntry.cuGraphGetEdges, graph, 0, 0));
        assertEquals(1, count(DriverEntry.cuGraphNodeGetDependencies, second, 0));
        assertEquals(1, count(DriverEntry.cuGraphNodeGetDependentNodes, fill, 0));
        long exec = instantiate();
        assertEquals(111, result(exec));
        assertEquals(111, result(exec));
        port.fails(1, DriverEntry.cuGraphAddDependencies, graph, one(second), one(fill), 1L);
        port.ok(DriverEntry.cuGraphDestroy, graph);
        assertEquals(111, result(exec));
        port.ok(DriverEntry.cuGraphExecDestroy, exec);
        port.fails(400, DriverEntry.cuGraphLaunch, exec, stream);
    }

    @Test
    void parametersOfNodesAreToldAndChanged() {
        long fill = addFill(1);
        long kernel = addKernel(5, fill);
        long exec = instantiate();
        port.ok(DriverEntry.cuGraphExecKernelNodeSetParams_v2, exec, kernel, kernel(7));
        port.ok(DriverEntry.cuGraphExecMemsetNodeSetParams, exec, fill, fill(20), 0);
        assertEquals(27, result(exec));
        assertEquals(6, result(instantiate()), "the graph itself did not change");
        port.ok(DriverEntry.cuGraphKernelNodeSetParams_v2, kernel, kernel(9));
        assertEquals(10, result(instantiate()));
        MemorySegment told = port.arena.allocate(72, 8);
        port.ok(DriverEntry.cuGraphKernelNodeGetParams_v2, kernel, told);
        assertEquals(add, told.get(ValueLayout.JAVA_LONG, 0));
        MemorySegment pointers = MemorySegment.ofAddress(told.get(ValueLayout.JAVA_LONG, 40)).reinterpret(16);
        assertEquals(9, MemorySegment.ofAddress(pointers.get(ValueLayout.JAVA_LONG, 8)).reinterpret(4)
                .get(ValueLayout.JAVA_INT, 0));
        port.ok(DriverEntry.cuGraphNodeSetEnabled, exec, kernel, 0);
        assertEquals(20, result(exec));
        port.fails(1, DriverEntry.cuGraphMemsetNodeSetParams, kernel, fill(1));
    }

    @Test
    void anUpdateNeedsTheSameShape() {
        long fill = addFill(1);
        addKernel(1, fill);
        long exec = instantiate();
        long other = port.made(DriverEntry.cuGraphCreate, 0);
        long otherFill = port.made(DriverEntry.cuGraphAddMemsetNode, other, 0, 0L, fill(50), 0);
        MemorySegment info = port.arena.allocate(24, 8);
        port.fails(910, DriverEntry.cuGraphExecUpdate_v2, exec, other, info);
        assertEquals(2, info.get(ValueLayout.JAVA_INT, 0));
        port.made(DriverEntry.cuGraphAddKernelNode_v2, other, one(otherFill), 1L, kernel(3));
        port.ok(DriverEntry.cuGraphExecUpdate_v2, exec, other, info);
        assertEquals(53, result(exec));
    }

    /** A walk over a large graph takes neither a stack as deep as the graph nor a time that grows with its square. */
    @Test
    @Timeout(300)
    void aLongChain() {
        long first = port.made(DriverEntry.cuGraphAddEmptyNode, graph, 0, 0L);
        long last = first;
        for (int i = 0; i < 40_000; i++) {
            last = port.made(DriverEntry.cuGraphAddEmptyNode, graph, one(last), 1L);
        }
        port.fails(1, DriverEntry.cuGraphAddDependencies, graph, one(last), one(first), 1L);
        long exec = instantiate();
        long copy = port.made(DriverEntry.cuGraphClone, graph);
        port.ok(DriverEntry.cuGraphExecUpdate_v2, exec, copy, port.arena.allocate(24, 8));
        port.ok(DriverEntry.cuGraphLaunch, exec, stream);
        port.ok(DriverEntry.cuStreamSynchronize, stream);
        port.ok(DriverEntry.cuGraphDestroyNode, first);
        port.ok(DriverEntry.cuGraphDestroy, copy);
        port.ok(DriverEntry.cuGraphExecDestroy, exec);
    }

    @Test
    void childrenClonesAndEvents() {
        long child = port.made(DriverEntry.cuGraphCreate, 0);
        long event = port.event();
        port.made(DriverEntry.cuGraphAddKernelNode_v2, child, 0, 0L, kernel(2));
        long fill = addFill(10);
        long node = port.made(DriverEntry.cuGraphAddChildGraphNode, graph, one(fill), 1L, child);
        long record = port.made(DriverEntry.cuGraphAddEventRecordNode, graph, one(node), 1L, event);
        long exec = instantiate();
        assertEquals(12, result(exec));
        port.ok(DriverEntry.cuEventSynchronize, event);
        long clone = port.made(DriverEntry.cuGraphClone, graph);
        assertNotEquals(record, port.made(DriverEntry.cuGraphNodeFindInClone, record, clone));
        MemorySegment type = port.arena.allocate(4);
        port.ok(DriverEntry.cuGraphNodeGetType, node, type);
        assertEquals(4, type.get(ValueLayout.JAVA_INT, 0));
    }

    @Test
    void memoryOfNodesLivesWithTheGraph() {
        MemorySegment parameters = port.arena.allocate(120, 8);
        parameters.set(ValueLayout.JAVA_INT, 0, 1);
        parameters.set(ValueLayout.JAVA_INT, 8, 1);
        parameters.set(ValueLayout.JAVA_LONG, 104, 4096);
        long allocate = port.made(DriverEntry.cuGraphAddMemAllocNode, graph, 0, 0L, parameters);
        long address = parameters.get(ValueLayout.JAVA_LONG, 112);
        assertNotEquals(0, address);
        long exec = instantiate();
        port.ok(DriverEntry.cuGraphLaunch, exec, stream);
        port.fails(1, DriverEntry.cuGraphLaunch, exec, stream);
        port.ok(DriverEntry.cuMemFreeAsync, address, stream);
        port.ok(DriverEntry.cuStreamSynchronize, stream);
        port.made(DriverEntry.cuGraphAddMemFreeNode, graph, one(allocate), 1L, address);
        long balanced = instantiate();
        for (int i = 0; i < 3; i++) {
            port.ok(DriverEntry.cuGraphLaunch, balanced, stream);
        }
        port.ok(DriverEntry.cuStreamSynchronize, stream);
    }

    @Test
    void aDrawing(@TempDir Path directory) throws IOException {
        addKernel(1, addFill(1));
        Path file = directory.resolve("graph.dot");
        port.ok(DriverEntry.cuGraphDebugDotPrint, graph, file.toString(), 0);
        String dot = Files.readString(file);
        assertTrue(dot.startsWith("digraph") && dot.contains("KERNEL add") && dot.contains("->"), dot);
    }
}

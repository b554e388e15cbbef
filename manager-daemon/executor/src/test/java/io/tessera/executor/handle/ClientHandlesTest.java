package io.tessera.executor.handle;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.device.HandleKind;
import io.tessera.executor.quota.Countable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What an end costs, and that it is given back. */
class ClientHandlesTest {
    private static final int MANY = 300_000;

    /** An object's end costs what it has: with a look at all that its client has, this takes an hour. */
    @Test
    @Timeout(180)
    void manyThingsEndInTheTimeOfTheirNumber() {
        ClientHandles handles = new ClientHandles(0);
        long graph = handles.put(HandleKind.GRAPH, 7, 0, 1);
        long[] events = new long[MANY];
        long[] nodes = new long[MANY];
        for (int i = 0; i < MANY; i++) {
            events[i] = handles.put(HandleKind.EVENT, 16L * (i + 1), 0, 1);
            nodes[i] = handles.put(HandleKind.GRAPH_NODE, 16L * (i + 1), graph, 1);
        }
        for (int i = 0; i < MANY; i++) {
            handles.remove(HandleKind.EVENT, events[i]);
        }
        for (int i = 0; i < MANY; i += 2) {
            handles.remove(HandleKind.GRAPH_NODE, nodes[i]);
        }
        assertEquals(MANY / 2, handles.account().tenant().count(Countable.NODE_HANDLE));
        handles.remove(HandleKind.GRAPH, graph);
        for (int i = 1; i < MANY; i += 2) {
            assertEquals(HandleTable.NONE, handles.value(HandleKind.GRAPH_NODE, nodes[i]));
        }
        assertEquals(0, handles.account().tenant().bytes());
    }

    /** Graphs lie in nodes that lie in graphs: the outermost takes all of them with it, without a stack as deep as they are. */
    @Test
    void whatLiesInEachOtherEndsTogether() {
        ClientHandles handles = new ClientHandles(0);
        long outermost = handles.put(HandleKind.GRAPH, 1, 0, 1);
        long graph = outermost;
        for (int i = 2; i < 100_000; i++) {
            long node = handles.put(HandleKind.GRAPH_NODE, i, graph, 1);
            graph = handles.put(HandleKind.GRAPH, i, node, 1);
        }
        handles.remove(HandleKind.GRAPH, outermost);
        assertEquals(HandleTable.NONE, handles.value(HandleKind.GRAPH, graph));
        assertEquals(0, handles.account().tenant().bytes());
    }
}

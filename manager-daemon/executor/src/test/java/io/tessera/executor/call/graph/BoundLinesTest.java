package io.tessera.executor.call.graph;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.executor.call.MovedBytes;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.stream.MoveTime;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Lines on bounds that a program would need millions of objects, or minutes, to reach. */
class BoundLinesTest {
    private static final String SPLIT = "; make several graphs of it and launch them one after the other";

    private static GraphSize moving(long ns) {
        GraphSize size = new GraphSize();
        size.movesNs = ns;
        return size;
    }

    @Test
    void aGraphThatIsTooLarge() {
        assertNull(GraphSize.of(GraphSize.MOST_NODES - 1, 0, 0).refusal(GraphSize.of(1, 0, 0)));
        assertEquals("a graph may have 65536 nodes with those of its children, and this one has 65536" + SPLIT,
                GraphSize.of(GraphSize.MOST_NODES, 0, 0).refusal(GraphSize.of(1, 0, 0)));
        assertEquals("a graph may have 262144 edges, and this one has 262144" + SPLIT,
                GraphSize.of(1, 0, GraphSize.MOST_EDGES).refusal(GraphSize.of(0, 0, 1)));
        List<String> others = List.of(GraphSize.of(1, GraphSize.MOST_LARGE_BYTES, 0).refusal(GraphSize.of(1, 4096, 0)),
                moving(GraphSize.MOST_MOVES_NS).refusal(moving(1)));
        others.forEach(line -> assertTrue(line.endsWith(SPLIT), line));
        assertTrue(others.getFirst().startsWith("the nodes of a graph may have 256 bytes of parameters each and 8 MiB more together"),
                others::toString);
        assertTrue(others.getLast().startsWith("the copies and memsets of a graph may take this device 2 s at its best"), others::toString);
    }

    @Test
    void aCopyThatTakesTooLong() {
        MovedBytes moved = new MovedBytes(MoveTime.ofSoftware(), _ -> false);
        moved.begin();
        moved.inRows(600_000_000);
        assertDoesNotThrow(moved::check);
        moved.inRows(200_000_000);
        RejectedException refusal = assertThrows(RejectedException.class, moved::check);
        assertEquals(CudaResult.OUT_OF_MEMORY, refusal.result());
        assertTrue(refusal.isTold());
        assertEquals(
                "one copy or memset may take this device 30 s at its best, and this one takes 40 s: nobody can end it; copy it in parts, or with longer rows",
                refusal.getMessage());
    }

    /** No node that a driver would put into clusters runs a kernel that is fenced for none. */
    @Test
    void whatGraphsDoNotHave() {
        RejectedException refusal = ClusterNodes.noClusters();
        assertEquals(CudaResult.NOT_SUPPORTED, refusal.result());
        assertTrue(refusal.isTold() && refusal.getMessage().endsWith(" is not supported in space sharing; run the program with --share time"),
                refusal.getMessage());
    }
}

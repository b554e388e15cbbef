package io.tessera.executor.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.executor.stream.MoveTime;
import io.tessera.testing.driver.FakeDriver;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How long the memory of graphs lives. */
@Timeout(120)
class GraphMemoryTest {
    private static final long GRAPH = 100;
    private static final long EXECUTABLE = 200;
    private static final long NODE = 300;
    private static final byte[] PARAMETERS = new byte[120];

    private final Arena arena = Arena.ofConfined();
    private final FakeDriver driver = new FakeDriver();
    private final ListWindow window = new ListWindow();
    private final DriverCalls calls = new DriverCalls(driver, arena);
    private final ClientPools pools = new ClientPools(window, new ClientStreams(calls, new ClientHandles(0), MoveTime.ofSoftware()),
            () -> 0);
    private final List<String> told = new ArrayList<>();
    private final GraphMemory memory = new GraphMemory(pools, new GraphMemory.Owner() {
        @Override
        public void left(long address) {
            told.add("left");
        }

        @Override
        public void gone(long address) {
            told.add("gone");
        }
    });

    @AfterEach
    void close() {
        arena.close();
        driver.close();
    }

    private long node(long bytes) {
        long address = memory.allocate(bytes);
        assertNotEquals(0, address);
        memory.allocates(GRAPH, NODE, address, bytes, PARAMETERS);
        return address;
    }

    @Test
    void itBelongsToTheGraphAndToWhatIsMadeOfIt() {
        long address = node(4096);
        assertTrue(memory.isOfGraph(address));
        memory.executable(EXECUTABLE, GRAPH, false);
        memory.partOf(GRAPH, GRAPH + 1);
        memory.graphGone(GRAPH);
        memory.graphGone(GRAPH + 1);
        assertEquals(List.of(), told, "the executable graph has it");
        assertEquals(4096, memory.attribute(2));
        memory.executableGone(EXECUTABLE);
        assertEquals(List.of("gone"), told);
        assertTrue(window.live.isEmpty());
        assertNull(memory.allocationOf(NODE));
        assertTrue(memory.isEmpty());
    }

    @Test
    void whatALaunchAllocatedIsTheProgramsUntilItFreesIt() {
        long address = node(4096);
        memory.executable(EXECUTABLE, GRAPH, false);
        assertTrue(memory.mayLaunch(EXECUTABLE));
        memory.launched(EXECUTABLE);
        assertEquals(4096, memory.attribute(0));
        assertFalse(memory.mayLaunch(EXECUTABLE), "it is allocated");
        assertTrue(memory.free(address));
        assertFalse(memory.free(address), "twice");
        assertTrue(memory.mayLaunch(EXECUTABLE));
        memory.launched(EXECUTABLE);
        memory.executableGone(EXECUTABLE);
        memory.graphGone(GRAPH);
        assertEquals(List.of("left"), told);
        assertEquals(1, window.live.size(), "the graph is gone, the memory is not");
        pools.free(address);
        assertTrue(window.live.isEmpty());
    }

    @Test
    void aGraphThatFreesWhatItAllocatesMayBeLaunchedAgainAndAgain() {
        long address = node(512);
        memory.frees(NODE + 1, address);
        assertEquals(address, memory.freedBy(NODE + 1));
        memory.executable(EXECUTABLE, GRAPH, false);
        memory.launched(EXECUTABLE);
        assertTrue(memory.mayLaunch(EXECUTABLE));
        assertFalse(memory.free(address), "it is not allocated any more");
        memory.executable(EXECUTABLE + 1, GRAPH, true);
        memory.launched(EXECUTABLE + 1);
        assertTrue(memory.mayLaunch(EXECUTABLE + 1));
        assertEquals(512, memory.attribute(3));
        assertTrue(memory.attribute(1, 0));
        assertFalse(memory.attribute(0, 0), "what is in use cannot be set");
    }
}

package io.tessera.executor.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.clock.Clocks;
import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.DriverFailedException;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.part.ClientPart;
import io.tessera.executor.part.ProcessorParts;
import io.tessera.testing.driver.FakeDriver;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A stream of a client goes from one part of the processors to another with its order kept, and leaves nothing behind. */
class StreamPartsTest {
    private final Arena arena = Arena.ofShared();
    private final FakeDriver driver = new FakeDriver();
    private final DriverCalls calls = new DriverCalls(driver, arena);
    private final List<Long> ended = new ArrayList<>();
    private ProcessorParts parts;
    private ClientStreams streams;
    private ClientStream stream;

    @BeforeEach
    void open() throws DriverFailedException {
        driver.isGpu();
        driver.processors = 132;
        parts = ProcessorParts.make(DeviceContext.open(driver, 0));
        streams = new ClientStreams(calls, new ClientHandles(0), MoveTime.ofSoftware(), parts, new ClientPart("tenant"), Clocks.system().monotonic());
        streams.beforeEnd(ended::add);
        streams.createContext(1);
        stream = streams.find(0, streams.context(1));
    }

    @AfterEach
    void close() {
        driver.close();
        arena.close();
    }

    @Test
    void aQuarterAndThreeTenthsAreKeptFree() {
        assertEquals(132, parts.processors(ProcessorParts.WHOLE));
        assertEquals(100, parts.processors(ProcessorParts.MOST));
        assertEquals(92, parts.processors(ProcessorParts.FEWER));
        parts.close();
        assertEquals(0, driver.alive("part"));
    }

    @Test
    void aDriverThatCannotDivideItsProcessorsHasNoParts() throws DriverFailedException {
        driver.processors = 0;
        assertFalse(ProcessorParts.make(DeviceContext.open(driver, 0)).isAvailable());
    }

    @Test
    void whatComesNextWaitsForWhatWasBefore() {
        driver.calls.clear();
        streams.parts().place(stream, ProcessorParts.MOST);
        assertNotEquals(stream.whole(), stream.value());
        List<String> order = driver.calls.stream().filter(call -> call.startsWith("cuEventRecord") || call.startsWith("cuStreamWaitEvent")).toList();
        assertEquals(2, order.size(), order.toString());
        assertTrue(order.get(0).startsWith("cuEventRecord") && order.get(1).startsWith("cuStreamWaitEvent"), order.toString());
        long part = stream.value();
        streams.parts().place(stream, ProcessorParts.WHOLE);
        assertEquals(stream.whole(), stream.value());
        streams.parts().place(stream, ProcessorParts.MOST);
        assertEquals(part, stream.value(), "it has one stream on each part");
        assertEquals(stream, streams.ofValue(stream.whole(), streams.context(1)));
        assertEquals(stream, streams.ofValue(part, streams.context(1)));
    }

    @Test
    void whereItIsAlreadyNothingIsCalled() {
        streams.parts().place(stream, ProcessorParts.MOST);
        driver.calls.clear();
        streams.parts().place(stream, ProcessorParts.MOST);
        assertEquals(List.of(), driver.calls);
    }

    @Test
    void aStreamWithAttributesAndOneThatCapturesStay() {
        stream.hasAttributes();
        streams.parts().place(stream, ProcessorParts.MOST);
        assertEquals(stream.whole(), stream.value());
    }

    @Test
    void theEndOfAStreamEndsAllThatItHas() {
        int before = driver.alive("stream");
        streams.parts().place(stream, ProcessorParts.MOST);
        streams.parts().place(stream, ProcessorParts.FEWER);
        assertEquals(before + 2, driver.alive("stream"));
        streams.destroyContext(streams.context(1));
        assertEquals(before - 1, driver.alive("stream"));
        assertEquals(3, ended.size(), "a listener that follows streams hears of each");
    }

    @Test
    void workOnAPartIsWorkOfTheClient() {
        streams.parts().place(stream, ProcessorParts.MOST);
        streams.after(stream);
        assertTrue(streams.parts().isWorking());
        driver.heldStreams.add(stream.value());
        streams.parts().lookWhetherWorking();
        assertTrue(streams.parts().isWorking());
        driver.heldStreams.clear();
        streams.parts().lookWhetherWorking();
        assertFalse(streams.parts().isWorking());
    }
}

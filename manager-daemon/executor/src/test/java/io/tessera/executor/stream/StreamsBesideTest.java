package io.tessera.executor.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.tessera.device.HandleKind;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.testing.driver.FakeDriver;
import java.lang.foreign.Arena;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Work beside a stream comes behind all that the stream's own next work would come behind. */
class StreamsBesideTest {
    private static final int CONTEXT = 1;

    private final Arena arena = Arena.ofShared();
    private final FakeDriver driver = new FakeDriver();
    private final ClientHandles handles = new ClientHandles(0);
    private ClientStreams streams;
    private ClientStream legacy;
    private ClientStream blocking;

    @BeforeEach
    void open() {
        streams = new ClientStreams(new DriverCalls(driver, arena), handles, MoveTime.ofSoftware());
        streams.createContext(CONTEXT);
        ClientContext context = streams.context(CONTEXT);
        legacy = streams.find(0, context);
        streams.created(handles.put(HandleKind.STREAM, 101, 0, CONTEXT), context, true);
        blocking = streams.ofValue(101, context);
        assertNotNull(streams.beside(blocking)); // made once
        assertNotNull(streams.beside(legacy));
    }

    @AfterEach
    void close() {
        driver.close();
        arena.close();
    }

    private void work(ClientStream stream) {
        streams.before(stream);
        streams.after(stream);
    }

    private List<String> orders(ClientStream of) {
        driver.calls.clear();
        assertNotNull(streams.beside(of));
        return driver.calls.stream().filter(call -> call.equals("cuEventRecord") || call.equals("cuStreamWaitEvent")).toList();
    }

    @Test
    void itComesBehindTheLegacyStreamsWork() {
        work(legacy);
        assertEquals(List.of("cuEventRecord", "cuStreamWaitEvent", "cuEventRecord", "cuStreamWaitEvent"), orders(blocking));
        assertEquals(List.of("cuEventRecord", "cuStreamWaitEvent"), orders(blocking));
    }

    @Test
    void besideTheLegacyStreamItComesBehindBlockingStreams() {
        work(blocking);
        assertEquals(List.of("cuEventRecord", "cuStreamWaitEvent", "cuEventRecord", "cuStreamWaitEvent"), orders(legacy));
    }
}

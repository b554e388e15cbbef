package io.tessera.executor.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.tessera.device.CudaResult;
import io.tessera.device.HandleKind;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.testing.driver.FakeDriver;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A stream that takes part in a capture is not asked for its work: the driver would invalidate the capture. */
class CapturedStreamsTest {
    private static final int CONTEXT = 1;
    private static final long ORIGIN = 101;
    private static final long JOINED = 102;

    private final Arena arena = Arena.ofShared();
    private final FakeDriver driver = new FakeDriver();
    private final ClientHandles handles = new ClientHandles(0);
    private ClientStreams streams;
    private ClientStream origin;

    @BeforeEach
    void open() {
        streams = new ClientStreams(new DriverCalls(driver, arena), handles, MoveTime.ofSoftware());
        streams.createContext(CONTEXT);
        origin = created(ORIGIN);
        created(JOINED);
        driver.heldStreams.add(JOINED);
    }

    private ClientStream created(long value) {
        ClientContext context = streams.context(CONTEXT);
        streams.created(handles.put(HandleKind.STREAM, value, 0, CONTEXT), context, false);
        return streams.ofValue(value, context);
    }

    @AfterEach
    void close() {
        driver.close();
        arena.close();
    }

    @Test
    void aStreamThatJoinedTheCaptureOfAnotherIsNotAsked() {
        driver.capturing = true;
        streams.capturing(origin, true);
        driver.calls.clear();
        assertEquals(CudaResult.SUCCESS, streams.query());
        assertFalse(driver.calls.contains("cuStreamQuery"), driver.calls.toString());
    }

    @Test
    void aStreamIsAskedWhereNothingIsCaptured() {
        assertEquals(CudaResult.NOT_READY, streams.query());
    }

    @Test
    void aStreamIsAskedWhoseCaptureHasEndedWithoutACall() {
        streams.capturing(origin, true);
        driver.capturing = false;
        assertEquals(CudaResult.NOT_READY, streams.query());
    }
}

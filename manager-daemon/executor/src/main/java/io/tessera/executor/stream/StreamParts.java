package io.tessera.executor.stream;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.part.ClientPart;
import io.tessera.executor.part.ProcessorParts;
import io.tessera.executor.turn.SubmissionGate;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import java.util.function.ToIntBiFunction;

/** The parts of the processors on which the streams of a client are. One owner thread; {@link #isWorking} may be called by any thread. */
public final class StreamParts {
    private final Predicate<ClientStream> capturing;
    private final Predicate<ClientStream> recorded;
    private final ToIntBiFunction<Long, Long> waits;
    private final IntSupplier query;
    private final DriverCalls driver;
    private final ProcessorParts processors;
    private final ClientPart part;
    /** Whether work may be on the device. */
    private volatile boolean working;

    /**
     * Creates the parts for the streams of a client.
     *
     * @param capturing whether a stream takes part in a capture
     * @param recorded  records a stream's event; returns whether that was possible
     * @param waits     makes a stream wait for an event; returns a CUresult
     * @param query     whether all work is done, as a CUresult
     */
    StreamParts(DriverCalls driver, ProcessorParts processors, ClientPart part, Predicate<ClientStream> capturing, Predicate<ClientStream> recorded,
            ToIntBiFunction<Long, Long> waits, IntSupplier query) {
        this.driver = driver;
        this.processors = processors;
        this.part = part;
        this.capturing = capturing;
        this.recorded = recorded;
        this.waits = waits;
        this.query = query;
    }

    /** Returns the parts of the device. */
    public ProcessorParts processors() {
        return processors;
    }

    /** Returns the client, as the keeper of the parts sees it. */
    public ClientPart client() {
        return part;
    }

    /** Returns the gate that says when the client's tenant may submit. */
    public SubmissionGate.Client turn() {
        return part.turn();
    }

    /** Returns the part that the client's kernels are to run on. Any thread. */
    public int wanted() {
        return part.part();
    }

    /**
     * Makes later work of a stream run on a part of the processors, behind everything that was submitted to it before. A stream that
     * captures, or has attributes of its own, stays on its part.
     *
     * @param wanted of {@link ProcessorParts}
     */
    public void place(ClientStream stream, int wanted) {
        if (stream.part == wanted || stream.hasAttributes || capturing.test(stream)) {
            return;
        }
        long next = onPart(stream, wanted);
        if (next != 0 && recorded.test(stream) && waits.applyAsInt(next, stream.event) == CudaResult.SUCCESS) {
            stream.value = next;
            stream.part = wanted;
        }
    }

    /** Returns the driver's stream of a client's stream on a part; 0: it cannot be made. */
    private long onPart(ClientStream stream, int wanted) {
        if (wanted == ProcessorParts.WHOLE) {
            return stream.whole;
        }
        if (wanted > stream.parts.length) {
            stream.parts = Arrays.copyOf(stream.parts, wanted);
        }
        if (stream.parts[wanted - 1] == 0) {
            boolean known = driver.call(DriverEntry.cuStreamGetPriority, stream.whole, driver.out(0)) == CudaResult.SUCCESS;
            if (processors.stream(driver, wanted, known ? processors.lowered(driver.outInt(0)) : 0) == CudaResult.SUCCESS) {
                stream.parts[wanted - 1] = driver.outLong(0);
            }
        }
        return stream.parts[wanted - 1];
    }

    /** Called before a stream is destroyed: moves it back to all processors, and destroys its streams on parts. */
    void end(ClientStream stream, List<LongConsumer> ends) {
        place(stream, ProcessorParts.WHOLE);
        for (long other : stream.parts) {
            if (other != 0) {
                ends.forEach(listener -> listener.accept(other));
                driver.call(DriverEntry.cuStreamDestroy_v2, other);
            }
        }
        stream.parts = new long[0];
    }

    /** Records that something was submitted to a stream. */
    void worked() {
        if (!working) {
            working = true;
        }
    }

    /** Returns whether work of the client may be on the device: something was submitted since it was last found to be done. Any thread. */
    public boolean isWorking() {
        return working;
    }

    /** Asks the device whether all work is done. */
    public void lookWhetherWorking() {
        if (query.getAsInt() == CudaResult.SUCCESS) {
            working = false;
            part.turn().done();
        }
    }
}

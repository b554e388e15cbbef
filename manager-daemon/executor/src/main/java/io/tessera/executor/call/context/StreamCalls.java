package io.tessera.executor.call.context;

import io.tessera.device.CudaEnums.EventWaitFlag;
import io.tessera.device.CudaEnums.LaunchAttributeId;
import io.tessera.device.CudaEnums.StreamFlag;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverApi;
import io.tessera.device.DriverEntry;
import io.tessera.device.HandleKind;
import io.tessera.executor.call.AddressCheck;
import io.tessera.executor.call.CallChecks;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.CallRow.Pause;
import io.tessera.executor.call.CallRow.StreamUse;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.call.StructureTranslation;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.handle.DeferredReleases;
import io.tessera.executor.part.ProcessorParts;
import io.tessera.executor.stream.ClientContext;
import io.tessera.executor.stream.ClientStream;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/** Streams: their creation and end, their settings, and their waits and writes of values in memory. One owner thread. */
final class StreamCalls {
    /** Launch attributes that streams have, as bits by number. */
    private static final long ATTRIBUTES = 1 << LaunchAttributeId.ACCESS_POLICY_WINDOW | 1 << LaunchAttributeId.SYNCHRONIZATION_POLICY
            | 1 << LaunchAttributeId.PRIORITY | 1 << LaunchAttributeId.MEM_SYNC_DOMAIN_MAP | 1 << LaunchAttributeId.MEM_SYNC_DOMAIN;

    private final DriverCalls driver;
    private final ClientStreams streams;
    private final DeferredReleases deferredReleases;
    private final Consumer<ClientStream> endsCapture;
    private final AddressCheck addresses;
    private final StructureTranslation structures;

    /** @param endsCapture ends an open capture that began on a stream */
    StreamCalls(DriverCalls driver, ClientStreams streams, DeferredReleases deferredReleases, Consumer<ClientStream> endsCapture, CallChecks checks) {
        this.driver = driver;
        this.streams = streams;
        this.deferredReleases = deferredReleases;
        this.endsCapture = endsCapture;
        this.addresses = checks.addresses();
        this.structures = checks.structures();
    }

    void register(CallTable calls) {
        calls.row(DriverApi.cuStreamCreate).executes(this::create).records(this::created);
        calls.row(DriverApi.cuStreamCreateWithPriority).executes(this::create).records(this::created);
        calls.row(DriverApi.cuStreamDestroy).stream(StreamUse.STATE).ends(HandleKind.STREAM).executes(this::destroy);
        calls.row(DriverApi.cuStreamGetAttribute).stream(StreamUse.STATE).executes(this::attribute);
        calls.row(DriverApi.cuStreamSetAttribute).stream(StreamUse.STATE).executes(this::setAttribute);
        calls.row(DriverApi.cuStreamCopyAttributes).stream(StreamUse.STATE).executes(this::copyAttributes);
        calls.row(DriverApi.cuStreamWaitEvent).stream(StreamUse.ORDER).pauses(Pause.FOR_STREAM).prepares(this::settle)
                .checks(frame -> EventCalls.nodeOf(deferredReleases, frame, 1, EventWaitFlag.EXTERNAL));
        calls.row(DriverApi.cuStreamWaitValue32).pauses(Pause.FOR_VALUE).spans((_, _) -> Integer.BYTES).checks(frame -> waits(frame, false));
        calls.row(DriverApi.cuStreamWaitValue64).pauses(Pause.FOR_VALUE).spans((_, _) -> Long.BYTES).checks(frame -> waits(frame, true));
        calls.row(DriverApi.cuStreamWriteValue32).spans((_, _) -> Integer.BYTES);
        calls.row(DriverApi.cuStreamWriteValue64).spans((_, _) -> Long.BYTES);
        calls.row(DriverApi.cuStreamBatchMemOp).pauses(Pause.FOR_VALUE).checks(this::operations);
    }

    private int create(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(0, Long.BYTES);
        frame.slot(1, frame.slot(1) | StreamFlag.NON_BLOCKING);
        boolean asks = frame.parameters() > 2;
        frame.slot(2, streams.parts().processors().raised(asks ? (int) frame.slot(2) : 0));
        return driver.call(DriverEntry.cuStreamCreateWithPriority, frame.slots());
    }

    private void created(CallFrame frame) {
        streams.created(frame.data(0).get(WireTypes.U64, 0), frame.context(), (frame.argument(1) & StreamFlag.NON_BLOCKING) == 0);
    }

    private int destroy(CallFrame frame, ClientContext context) {
        if (frame.stream().isOriginOfCapture()) {
            endsCapture.accept(frame.stream());
        }
        streams.destroying(frame.stream());
        frame.slot(0, frame.stream().whole());
        return driver.call(frame.entry(), frame.slots());
    }

    /** Parameters: stream, attribute, value. The stream that has the client's attributes is the one on all processors. */
    private int attribute(CallFrame frame, ClientContext context) throws RejectedException {
        frame.slot(0, frame.stream().whole());
        int result = driver.call(frame.entry(), frame.slots());
        if (result == CudaResult.SUCCESS && frame.slot(1) == LaunchAttributeId.PRIORITY) {
            MemorySegment value = frame.required(2);
            value.set(WireTypes.U32, 0, streams.parts().processors().lowered(value.get(WireTypes.U32, 0)));
        }
        return result;
    }

    /** Parameters: stream, attribute, value. */
    private int setAttribute(CallFrame frame, ClientContext context) throws RejectedException {
        if (frame.slot(1) < 0 || frame.slot(1) >= Long.SIZE || (ATTRIBUTES >> frame.slot(1) & 1) == 0) {
            return CudaResult.INVALID_VALUE;
        }
        structures.attribute((int) frame.slot(1), frame.required(2));
        if (frame.slot(1) == LaunchAttributeId.PRIORITY) {
            MemorySegment value = frame.required(2);
            value.set(WireTypes.U32, 0, streams.parts().processors().raised(value.get(WireTypes.U32, 0)));
        }
        keepWhole(frame);
        frame.stream().hasAttributes();
        return driver.call(frame.entry(), frame.slots());
    }

    /** Parameters: the stream that gets the attributes, and the one that has them. */
    private int copyAttributes(CallFrame frame, ClientContext context) {
        keepWhole(frame);
        frame.stream().hasAttributes();
        return driver.call(frame.entry(), frame.slots());
    }

    /**
     * Prepares a wait for an event of a capture, which makes the stream join the capture. The stream can then no longer be queried, so another stream waits
     * for its earlier work. Captured kernels keep the processors of their stream.
     */
    private void settle(CallFrame frame) {
        if (streams.isAnyCapturing()) {
            streams.settle(frame.stream());
            keepWhole(frame);
        }
    }

    private void keepWhole(CallFrame frame) {
        streams.parts().place(frame.stream(), ProcessorParts.WHOLE);
        frame.slot(0, frame.stream().value());
    }

    /** Parameters: stream, address, value, flags. */
    private void waits(CallFrame frame, boolean wide) throws RejectedException {
        addresses.awaits(frame.slot(1), wide, frame.slot(2), (int) frame.slot(3), false);
    }

    /** Parameters: stream, count, operations. */
    private void operations(CallFrame frame) throws RejectedException {
        if (frame.slot(1) > 0) {
            addresses.operations(frame.required(2), frame.slot(1), false);
        }
    }
}

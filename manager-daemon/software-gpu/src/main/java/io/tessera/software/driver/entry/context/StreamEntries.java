package io.tessera.software.driver.entry.context;

import io.tessera.device.CudaEnums.EventWaitFlag;
import io.tessera.device.CudaEnums.StreamFlag;
import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.context.CaptureRules;
import io.tessera.software.driver.context.Stream;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DeviceText;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.driver.entry.launch.LaunchAttributes;
import io.tessera.software.driver.operation.HostFunction;
import io.tessera.software.driver.operation.StreamCallback;
import io.tessera.software.driver.work.Event;
import io.tessera.software.driver.work.Task;

/** Streams: making and ending them, waiting for them, and functions of the program in their order. */
public final class StreamEntries implements EntryGroup {
    private final DriverState state;

    /** Creates an instance over a driver's state. */
    public StreamEntries(DriverState state) {
        this.state = state;
    }

    @Override
    public void register(EntryTable table) {
        table.on(DriverEntry.cuStreamCreate, call -> create(call, 0))
                .on(DriverEntry.cuStreamCreateWithPriority, call -> create(call, call.number(2)))
                .on(this::destroy, DriverEntry.cuStreamDestroy, DriverEntry.cuStreamDestroy_v2)
                .on(DriverEntry.cuStreamGetPriority, call -> call.putInt(1, call.stream(0).priority()))
                .on(DriverEntry.cuStreamGetFlags, call -> call.putInt(1, call.stream(0).flags()))
                .on(DriverEntry.cuStreamGetId, call -> call.putLong(1, call.stream(0).id()))
                .on(DriverEntry.cuStreamGetDevice, call -> {
                    call.stream(0);
                    call.putInt(1, 0);
                })
                .on(DriverEntry.cuStreamGetCtx, call -> call.putLong(1, call.stream(0).context()))
                .on(DriverEntry.cuStreamGetCtx_v2, call -> {
                    call.offerLong(1, call.stream(0).context());
                    call.offerLong(2, 0);
                })
                .on(DriverEntry.cuStreamSynchronize, this::synchronize)
                .on(DriverEntry.cuStreamQuery, this::query)
                .on(DriverEntry.cuStreamWaitEvent, call -> {
                    DriverException.require((call.number(2) & ~EventWaitFlag.EXTERNAL) == 0, CudaError.INVALID_VALUE);
                    call.stream(0).await(call.object(1, Event.class), call.number(2));
                })
                .on(DriverEntry.cuLaunchHostFunc, call -> call.stream(0)
                        .submit(new HostFunction(call.pointer(1), call.word(2))))
                .on(DriverEntry.cuStreamAddCallback, this::callback);
        registerAttributes(table);
    }

    private void registerAttributes(EntryTable table) {
        table.on(DriverEntry.cuStreamCopyAttributes, call -> call.stream(0)
                .setAttributes(call.stream(1).attributes()))
                .on(DriverEntry.cuStreamGetAttribute, call -> {
                    byte[] value = call.stream(0).attributes().get(LaunchAttributes.known(call.number(1)));
                    HostMemory.put(call.pointer(2), value == null ? new byte[64] : value, 64);
                })
                .on(DriverEntry.cuStreamSetAttribute, call -> call.stream(0)
                        .setAttribute(LaunchAttributes.known(call.number(1)), HostMemory.get(call.pointer(2), 64)));
    }

    private void create(Call call, int priority) {
        int flags = call.number(1);
        DriverException.require((flags & ~StreamFlag.NON_BLOCKING) == 0, CudaError.INVALID_VALUE);
        long out = call.pointer(0);
        HostMemory.putLong(out, state.handles().of(call.context().newStream(flags, priority)));
    }

    /** Also in a lost context: its streams can still be given back. */
    private void destroy(Call call) {
        Stream stream = state.handles().get(call.word(0), Stream.class);
        state.handles().remove(stream);
        stream.destroy();
    }

    private void synchronize(Call call) {
        Stream stream = call.stream(0);
        Task marker = stream.marker();
        if (marker != null) {
            marker.await();
        }
        DeviceText.flush(stream);
        stream.check();
    }

    private void query(Call call) {
        Stream stream = call.stream(0);
        Task marker = stream.marker();
        DriverException.require(marker == null || marker.isDone(), CudaError.NOT_READY);
        stream.check();
    }

    private void callback(Call call) {
        DriverException.require(call.number(3) == 0, CudaError.INVALID_VALUE);
        Stream stream = call.stream(0);
        CaptureRules.forbidUnrecordable(stream);
        stream.submit(new StreamCallback(call.pointer(1), call.word(0), call.word(2)));
    }
}

package io.tessera.software.driver.entry.launch;

import io.tessera.device.CudaEnums.LaunchAttributeId;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.abi.StructLayouts.LaunchConfig;
import io.tessera.software.driver.context.Stream;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.driver.operation.KernelLaunch;
import io.tessera.software.driver.work.Event;
import io.tessera.software.launch.Dim3;
import java.util.Map;

/** Launches of kernels. */
public final class LaunchEntries implements EntryGroup {
    private static final byte[] YES = new byte[64];

    static {
        YES[0] = 1;
    }

    private final DriverState state;

    /** Creates an instance over a driver's state. */
    public LaunchEntries(DriverState state) {
        this.state = state;
    }

    @Override
    public void register(EntryTable table) {
        table.on(DriverEntry.cuLaunchKernel, call -> call.stream(8)
                .submit(request(call, call.word(9), call.word(10), Map.of()).prepare(state)))
                .on(DriverEntry.cuLaunchCooperativeKernel, call -> call.stream(8)
                        .submit(request(call, call.word(9), 0, Map.of(LaunchAttributeId.COOPERATIVE, YES))
                                .prepare(state)))
                .on(DriverEntry.cuLaunchKernelEx, this::launch);
    }

    private static LaunchRequest request(Call call, long parameters, long extra, Map<Integer, byte[]> attributes) {
        return new LaunchRequest(call.word(0), new Dim3(call.number(1), call.number(2), call.number(3)),
                new Dim3(call.number(4), call.number(5), call.number(6)), call.number(7), parameters, extra,
                attributes);
    }

    private void launch(Call call) {
        long config = call.pointer(0);
        Stream stream = call.stream(HostMemory.getLong(config + LaunchConfig.STREAM));
        Map<Integer, byte[]> attributes = LaunchAttributes.read(HostMemory.getLong(config + LaunchConfig.ATTRIBUTES),
                HostMemory.getInt(config + LaunchConfig.COUNT));
        KernelLaunch launch = ofConfig(config, call.word(1), call.word(2), call.word(3), attributes).prepare(state);
        stream.submit(launch);
        // Both events may be late: the end of the kernel is the latest moment that they can mean.
        record(stream, attributes, LaunchAttributeId.PROGRAMMATIC_EVENT);
        record(stream, attributes, LaunchAttributeId.LAUNCH_COMPLETION_EVENT);
    }

    private void record(Stream stream, Map<Integer, byte[]> attributes, int id) {
        long handle = LaunchAttributes.event(attributes, id);
        if (handle != 0) {
            stream.record(state.handles().get(handle, Event.class), 0);
        }
    }

    /** A launch that CUlaunchConfig describes. */
    static LaunchRequest ofConfig(long config, long function, long parameters, long extra,
            Map<Integer, byte[]> attributes) {
        return new LaunchRequest(function, extents(config + LaunchConfig.GRID), extents(config + LaunchConfig.BLOCK),
                HostMemory.getInt(config + LaunchConfig.SHARED), parameters, extra, attributes);
    }

    /** Three numbers in a row. */
    public static Dim3 extents(long place) {
        return new Dim3(HostMemory.getInt(place), HostMemory.getInt(place + 4), HostMemory.getInt(place + 8));
    }
}

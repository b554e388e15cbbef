package io.tessera.software.driver.entry.graph;

import io.tessera.device.CudaEnums.GraphUserObjectFlag;
import io.tessera.device.CudaEnums.UserObjectFlag;
import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.driver.graph.CudaGraph;
import io.tessera.software.driver.graph.UserObject;
import io.tessera.software.driver.operation.NativeCalls;

/** Objects of the program that live as long as graphs hold them. */
public final class UserObjectEntries implements EntryGroup {
    private static final int NO_DESTRUCTOR_SYNC = UserObjectFlag.NO_DESTRUCTOR_SYNC;

    private final DriverState state;

    /** Creates an instance over a driver's state. */
    public UserObjectEntries(DriverState state) {
        this.state = state;
    }

    @Override
    public void register(EntryTable table) {
        table.on(DriverEntry.cuUserObjectCreate, call -> {
            DriverException.require(call.number(4) == NO_DESTRUCTOR_SYNC, CudaError.INVALID_VALUE);
            long out = call.pointer(0);
            long function = call.pointer(2);
            long data = call.word(1);
            HostMemory.putLong(out, state.handles().of(new UserObject(call.number(3) & 0xffffffffL,
                    () -> NativeCalls.hostFunction(function, data))));
        }).on(DriverEntry.cuUserObjectRetain,
                call -> call.object(0, UserObject.class).retain(call.number(1) & 0xffffffffL))
                .on(DriverEntry.cuUserObjectRelease, call -> {
                    UserObject object = call.object(0, UserObject.class);
                    if (object.release(call.number(1) & 0xffffffffL)) {
                        state.handles().remove(object);
                    }
                })
                .on(DriverEntry.cuGraphRetainUserObject, call -> {
                    DriverException.require((call.number(3) & ~GraphUserObjectFlag.MOVE) == 0, CudaError.INVALID_VALUE);
                    CudaGraph graph = call.object(0, CudaGraph.class);
                    UserObject object = call.object(1, UserObject.class);
                    if (call.number(3) == GraphUserObjectFlag.MOVE) {
                        graph.adopt(object, call.number(2) & 0xffffffffL);
                    } else {
                        graph.retain(object, call.number(2) & 0xffffffffL);
                    }
                })
                .on(DriverEntry.cuGraphReleaseUserObject, call -> {
                    UserObject object = call.object(1, UserObject.class);
                    if (call.object(0, CudaGraph.class).release(object, call.number(2) & 0xffffffffL)) {
                        state.handles().remove(object);
                    }
                });
    }
}

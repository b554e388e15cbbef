package io.tessera.software.driver.entry.context;

import io.tessera.device.CudaEnums.GraphMemoryAttribute;
import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.context.Context;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DeviceProfile;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.driver.entry.memory.GraphMemoryCount;

/** The driver, the device that it reaches, whose number is always 0, and the device's primary context. */
public final class DeviceEntries implements EntryGroup {
    private static final int UUID_BYTES = 16;

    private final DriverState state;

    /** Creates an instance over a driver's state. */
    public DeviceEntries(DriverState state) {
        this.state = state;
    }

    @Override
    public void register(EntryTable table) {
        table.on(DriverEntry.cuInit, call -> DriverException.require(call.number(0) == 0, CudaError.INVALID_VALUE))
                .on(DriverEntry.cuDriverGetVersion, call -> call.putInt(0, DeviceProfile.DRIVER_VERSION))
                .on(DriverEntry.cuDeviceGetCount, call -> call.putInt(0, state.profile().devices()))
                .on(DriverEntry.cuDeviceGet, call -> {
                    DriverException.require(call.number(1) == state.profile().ordinal(), CudaError.INVALID_DEVICE);
                    call.putInt(0, 0);
                })
                .on(DriverEntry.cuDeviceGetName, this::name)
                .on(this::uuid, DriverEntry.cuDeviceGetUuid, DriverEntry.cuDeviceGetUuid_v2)
                .on(DriverEntry.cuDeviceTotalMem_v2, call -> {
                    call.device(1);
                    call.putLong(0, state.memory().device().capacityBytes());
                })
                .on(DriverEntry.cuDeviceGetAttribute, this::attribute)
                .on(DriverEntry.cuDeviceComputeCapability, call -> {
                    call.device(2);
                    call.putInt(0, state.profile().attribute(75));
                    call.putInt(1, state.profile().attribute(76));
                })
                .on(DriverEntry.cuDeviceGetProperties, this::properties)
                .on(DriverEntry.cuDeviceGetPCIBusId, this::busId)
                .on(DriverEntry.cuDeviceGetByPCIBusId, call -> {
                    DriverException.require(call.text(1).equalsIgnoreCase(state.profile().pciBusId()),
                            CudaError.INVALID_DEVICE);
                    call.putInt(0, 0);
                })
                .on(DriverEntry.cuDeviceGetTexture1DLinearMaxWidth, call -> {
                    call.device(3);
                    call.putLong(0, state.profile().attribute(69));
                })
                .on(DriverEntry.cuDeviceGetExecAffinitySupport, call -> {
                    call.device(2);
                    call.putInt(0, 0);
                });
        registerPeers(table);
        registerPrimary(table);
    }

    private void registerPeers(EntryTable table) {
        table.on(DriverEntry.cuDeviceCanAccessPeer, call -> {
            call.device(1);
            call.device(2);
            call.putInt(0, 0);
        }).on(DriverEntry.cuDeviceGetP2PAttribute, call -> {
            call.device(2);
            call.device(3);
            // There is no peer: a device is none of its own.
            throw new DriverException(CudaError.INVALID_DEVICE);
        });
    }

    private void registerPrimary(EntryTable table) {
        table.on(DriverEntry.cuDevicePrimaryCtxRetain, call -> {
            call.device(1);
            long out = call.pointer(0);
            HostMemory.putLong(out, state.primary().retain().handle());
        }).on(call -> {
            call.device(0);
            state.primary().release();
        }, DriverEntry.cuDevicePrimaryCtxRelease, DriverEntry.cuDevicePrimaryCtxRelease_v2).on(call -> {
            call.device(0);
            state.primary().reset();
        }, DriverEntry.cuDevicePrimaryCtxReset, DriverEntry.cuDevicePrimaryCtxReset_v2).on(call -> {
            call.device(0);
            ContextEntries.checkFlags(call.number(1));
            state.primary().setFlags(call.number(1));
        }, DriverEntry.cuDevicePrimaryCtxSetFlags, DriverEntry.cuDevicePrimaryCtxSetFlags_v2)
                .on(DriverEntry.cuDevicePrimaryCtxGetState, call -> {
                    call.device(0);
                    call.offerInt(1, state.primary().flags());
                    call.offerInt(2, state.primary().active() ? 1 : 0);
                });
        // Memory of graphs is what their nodes hold: there is no pool of it to trim.
        table.on(DriverEntry.cuDeviceGraphMemTrim, call -> call.device(0))
                .on(DriverEntry.cuDeviceGetGraphMemAttribute, call -> {
                    call.device(0);
                    DriverException.require(call.number(1) >= 0 && call.number(1) <= GraphMemoryAttribute.RESERVED_MEM_HIGH, CudaError.INVALID_VALUE);
                    call.putLong(2, GraphMemoryCount.bytes(state.handles()));
                })
                .on(DriverEntry.cuDeviceSetGraphMemAttribute, call -> {
                    call.device(0);
                    int attribute = call.number(1);
                    DriverException.require((attribute == GraphMemoryAttribute.USED_MEM_HIGH || attribute == GraphMemoryAttribute.RESERVED_MEM_HIGH)
                            && HostMemory.getLong(call.pointer(2)) == 0, CudaError.INVALID_VALUE);
                });
    }

    private void name(Call call) {
        call.device(2);
        DriverException.require(call.number(1) > 0, CudaError.INVALID_VALUE);
        HostMemory.putString(call.pointer(0), DeviceProfile.NAME, call.number(1));
    }

    private void uuid(Call call) {
        call.device(1);
        HostMemory.put(call.pointer(0), state.profile().uuid(), UUID_BYTES);
    }

    private void busId(Call call) {
        call.device(2);
        String id = state.profile().pciBusId();
        DriverException.require(call.number(1) > id.length(), CudaError.INVALID_VALUE);
        HostMemory.putString(call.pointer(0), id, call.number(1));
    }

    private void attribute(Call call) {
        call.device(2);
        Integer value = state.profile().attribute(call.number(1));
        DriverException.require(value != null, CudaError.INVALID_VALUE);
        call.putInt(0, value);
    }

    /** CUdevprop: ten numbers, the second and third with three parts. */
    private void properties(Call call) {
        call.device(1);
        int[] attributes = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
        long out = call.pointer(0);
        for (int i = 0; i < attributes.length; i++) {
            HostMemory.putInt(out + 4L * i, state.profile().attribute(attributes[i]));
        }
    }
}

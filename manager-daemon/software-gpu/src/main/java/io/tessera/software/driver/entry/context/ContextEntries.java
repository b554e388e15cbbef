package io.tessera.software.driver.entry.context;

import io.tessera.device.CudaEnums.ContextFlag;
import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.context.Context;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DeviceText;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;

/** Contexts: making, ending and choosing them, their limits, and waiting for all their work. */
public final class ContextEntries implements EntryGroup {
    private static final int KNOWN_FLAGS = ContextFlag.FLAGS_MASK;
    /** Result of cuCtxGetApiVersion for contexts of newer entries. */
    private static final int API_VERSION = 3020;

    private final DriverState state;

    /** Creates an instance over a driver's state. */
    public ContextEntries(DriverState state) {
        this.state = state;
    }

    static void checkFlags(int flags) {
        DriverException.require((flags & ~KNOWN_FLAGS) == 0 && (flags & 7) != 3 && (flags & 7) < 5,
                CudaError.INVALID_VALUE);
    }

    @Override
    public void register(EntryTable table) {
        table.on(call -> create(call, 1, 2), DriverEntry.cuCtxCreate, DriverEntry.cuCtxCreate_v2)
                .on(DriverEntry.cuCtxCreate_v3, call -> {
                    DriverException.require(call.number(2) == 0, CudaError.UNSUPPORTED_EXEC_AFFINITY);
                    create(call, 3, 4);
                })
                .on(DriverEntry.cuCtxCreate_v4, this::createWithParameters)
                .on(call -> state.destroyContext(context(call, 0)), DriverEntry.cuCtxDestroy,
                        DriverEntry.cuCtxDestroy_v2)
                .on(DriverEntry.cuCtxGetCurrent, call -> {
                    Context current = state.current();
                    call.putLong(0, current == null ? 0 : current.handle());
                })
                .on(DriverEntry.cuCtxSetCurrent, this::setCurrent)
                .on(call -> state.stack().push(context(call, 0)), DriverEntry.cuCtxPushCurrent,
                        DriverEntry.cuCtxPushCurrent_v2)
                .on(this::pop, DriverEntry.cuCtxPopCurrent, DriverEntry.cuCtxPopCurrent_v2)
                .on(DriverEntry.cuCtxGetDevice, call -> {
                    DriverException.require(state.current() != null, CudaError.INVALID_CONTEXT);
                    call.putInt(0, 0);
                })
                .on(DriverEntry.cuCtxGetDevice_v2, call -> {
                    call.context(1);
                    call.putInt(0, 0);
                })
                .on(DriverEntry.cuCtxGetId, call -> call.putLong(1, call.context(0).handle()))
                .on(DriverEntry.cuCtxGetApiVersion, call -> {
                    call.context(0);
                    call.putInt(1, API_VERSION);
                })
                .on(DriverEntry.cuCtxSynchronize, call -> synchronize(call.context()))
                .on(DriverEntry.cuCtxSynchronize_v2, call -> synchronize(call.context(0)));
        registerSettings(table);
        registerWithoutEffect(table);
    }

    private void registerSettings(EntryTable table) {
        table.on(DriverEntry.cuCtxGetFlags, call -> call.putInt(0, call.context().flags()))
                .on(DriverEntry.cuCtxSetFlags, call -> {
                    checkFlags(call.number(0));
                    call.context().setFlags(call.number(0));
                })
                .on(DriverEntry.cuCtxGetLimit, call -> call.putLong(0, call.context().limits().get(call.number(1))))
                .on(DriverEntry.cuCtxSetLimit, call -> call.context().limits().set(call.number(0), call.word(1)))
                .on(DriverEntry.cuCtxGetCacheConfig, call -> call.putInt(0, call.context().limits().cacheConfig()))
                .on(DriverEntry.cuCtxSetCacheConfig,
                        call -> call.context().limits().setCacheConfig(call.number(0)))
                .on(DriverEntry.cuCtxGetSharedMemConfig,
                        call -> call.putInt(0, call.context().limits().sharedConfig()))
                .on(DriverEntry.cuCtxSetSharedMemConfig,
                        call -> call.context().limits().setSharedConfig(call.number(0)))
                .on(DriverEntry.cuCtxGetStreamPriorityRange, call -> {
                    call.context();
                    call.offerInt(0, 0);
                    call.offerInt(1, Context.GREATEST_PRIORITY);
                });
    }

    /** Peers there are none; the device has no cache to reset and no profiler to start. */
    private void registerWithoutEffect(EntryTable table) {
        table.on(DriverEntry.cuCtxEnablePeerAccess, call -> {
            context(call, 0);
            throw new DriverException(CudaError.PEER_ACCESS_UNSUPPORTED);
        }).on(DriverEntry.cuCtxDisablePeerAccess, call -> {
            context(call, 0);
            throw new DriverException(CudaError.PEER_ACCESS_NOT_ENABLED);
        }).on(DriverEntry.cuCtxResetPersistingL2Cache, Call::context)
                .on(DriverEntry.cuProfilerStart, Call::context)
                .on(DriverEntry.cuProfilerStop, Call::context);
    }

    private Context context(Call call, int index) {
        return state.handles().get(call.word(index), Context.class, CudaError.INVALID_CONTEXT);
    }

    private void create(Call call, int flags, int device) {
        call.device(device);
        checkFlags(call.number(flags));
        long out = call.pointer(0);
        Context made = state.newContext(call.number(flags));
        state.stack().push(made);
        HostMemory.putLong(out, made.handle());
    }

    /** CUctxCreateParams: execution affinity and graphics contexts, of which the device has neither. */
    private void createWithParameters(Call call) {
        if (call.given(1)) {
            long parameters = call.word(1);
            DriverException.require(HostMemory.getInt(parameters + 8) == 0, CudaError.UNSUPPORTED_EXEC_AFFINITY);
            DriverException.require(HostMemory.getLong(parameters + 16) == 0, CudaError.NOT_SUPPORTED);
        }
        create(call, 2, 3);
    }

    private void setCurrent(Call call) {
        state.stack().poll();
        if (call.given(0)) {
            state.stack().push(context(call, 0));
        }
    }

    private void pop(Call call) {
        DriverException.require(state.current() != null, CudaError.INVALID_CONTEXT);
        Context popped = state.stack().pop();
        call.offerLong(0, popped.handle());
    }

    private void synchronize(Context context) {
        try {
            context.synchronize();
        } finally {
            DeviceText.flush(context);
        }
    }
}

package io.tessera.software.driver.entry.module;

import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.driver.module.DeviceFunction;
import io.tessera.software.driver.module.Library.LibraryKernel;
import io.tessera.software.program.Parameter;
import java.lang.foreign.Arena;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;

/** Functions and kernels: what is known of them, and what programs set. */
public final class FunctionEntries implements EntryGroup {
    private final DriverState state;
    /** Programs keep pointers to names; they live as long as the function is known. */
    private final Map<DeviceFunction, Long> names = Collections.synchronizedMap(new WeakHashMap<>());

    /** Creates an instance over a driver's state. */
    public FunctionEntries(DriverState state) {
        this.state = state;
    }

    @Override
    public void register(EntryTable table) {
        table.on(DriverEntry.cuFuncGetAttribute,
                call -> call.putInt(0, function(state, call.word(2)).attribute(call.number(1))))
                .on(DriverEntry.cuFuncSetAttribute,
                        call -> function(state, call.word(0)).setAttribute(call.number(1), call.number(2)))
                .on(DriverEntry.cuFuncGetModule,
                        call -> call.putLong(0, state.handles().of(function(state, call.word(1)).module())))
                .on(DriverEntry.cuFuncGetName, call -> call.putLong(0, name(function(state, call.word(1)))))
                .on(DriverEntry.cuFuncGetParamInfo, this::parameter)
                .on(DriverEntry.cuFuncIsLoaded, call -> {
                    function(state, call.word(1));
                    call.putInt(0, 1);
                })
                .on(DriverEntry.cuFuncLoad, call -> function(state, call.word(0)))
                .on(call -> {
                    function(state, call.word(0));
                    DriverException.require(call.number(1) >= 0 && call.number(1) <= 3, CudaError.INVALID_VALUE);
                }, DriverEntry.cuFuncSetCacheConfig, DriverEntry.cuFuncSetSharedMemConfig);
        registerKernels(table);
    }

    private void registerKernels(EntryTable table) {
        table.on(DriverEntry.cuKernelGetFunction,
                call -> call.putLong(0, state.handles().of(call.object(1, LibraryKernel.class).function())))
                .on(DriverEntry.cuKernelGetLibrary,
                        call -> call.putLong(0, state.handles().of(call.object(1, LibraryKernel.class).library())))
                .on(DriverEntry.cuKernelGetName, call -> call.putLong(0, name(function(state, call.word(1)))))
                .on(DriverEntry.cuKernelGetParamInfo, this::parameter)
                .on(DriverEntry.cuKernelGetAttribute, call -> {
                    call.device(3);
                    call.putInt(0, function(state, call.word(2)).attribute(call.number(1)));
                })
                .on(DriverEntry.cuKernelSetAttribute, call -> {
                    call.device(3);
                    function(state, call.word(2)).setAttribute(call.number(0), call.number(1));
                })
                .on(DriverEntry.cuKernelSetCacheConfig, call -> {
                    call.device(2);
                    function(state, call.word(0));
                    DriverException.require(call.number(1) >= 0 && call.number(1) <= 3, CudaError.INVALID_VALUE);
                });
    }

    /** Returns the function of a handle; a kernel of a library is taken where a function is asked for. */
    public static DeviceFunction function(DriverState state, long handle) {
        return switch (state.handles().find(handle)) {
            case DeviceFunction function -> function;
            case LibraryKernel kernel -> kernel.function();
            case null, default -> throw new DriverException(CudaError.INVALID_HANDLE);
        };
    }

    private long name(DeviceFunction function) {
        return names.computeIfAbsent(function, named -> Arena.global().allocateFrom(named.name()).address());
    }

    private void parameter(Call call) {
        List<Parameter> parameters = function(state, call.word(0)).parameters();
        long index = call.word(1);
        DriverException.require(index >= 0 && index < parameters.size(), CudaError.INVALID_VALUE);
        Parameter parameter = parameters.get((int) index);
        call.putLong(2, parameter.offset());
        call.offerLong(3, parameter.bytes());
    }
}

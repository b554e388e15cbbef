package io.tessera.software.driver.entry.module;

import io.tessera.device.CudaEnums.ModuleLoading;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.context.CaptureRules;
import io.tessera.software.driver.context.Context;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.driver.module.DeviceFunction;
import io.tessera.software.driver.module.DriverModule;
import io.tessera.software.driver.module.JitLogOptions;
import io.tessera.software.processor.GlobalVariable;
import java.util.List;

/** Modules. */
public final class ModuleEntries implements EntryGroup {
    private static final int LAZY = ModuleLoading.LAZY_LOADING;

    private final DriverState state;

    /** Creates an instance over a driver's state. */
    public ModuleEntries(DriverState state) {
        this.state = state;
    }

    @Override
    public void register(EntryTable table) {
        table.on(call -> load(call, new JitLogOptions(0, 0, 0)), DriverEntry.cuModuleLoadData,
                DriverEntry.cuModuleLoadFatBinary)
                .on(DriverEntry.cuModuleLoadDataEx,
                        call -> load(call, new JitLogOptions(call.number(2), call.word(3), call.word(4))))
                .on(DriverEntry.cuModuleLoad, call -> {
                    long out = call.pointer(0);
                    HostMemory.putLong(out, state.handles().of(state.loader().loadFile(call.text(1),
                            new JitLogOptions(0, 0, 0), call.context().handle())));
                })
                .on(DriverEntry.cuModuleUnload, call -> {
                    Context context = call.context();
                    CaptureRules.forbidUnsafe(context);
                    unload(state, call.object(0, DriverModule.class));
                })
                .on(DriverEntry.cuModuleGetLoadingMode, call -> call.putInt(0, LAZY))
                .on(DriverEntry.cuModuleGetFunction, this::function)
                .on(DriverEntry.cuModuleGetFunctionCount,
                        call -> call.putInt(0, call.object(1, DriverModule.class).functionNames().size()))
                .on(DriverEntry.cuModuleEnumerateFunctions, this::enumerate)
                .on(DriverEntry.cuModuleGetGlobal_v2, call -> {
                    call.context();
                    variable(call, call.object(2, DriverModule.class), call.text(3));
                });
    }

    private void load(Call call, JitLogOptions options) {
        long out = call.pointer(0);
        Context context = call.context();
        DriverModule module = state.loader().load(call.pointer(1), options, context.handle());
        HostMemory.putLong(out, state.handles().of(module));
    }

    /** Kernels that run go on; what the module has is freed when all have ended. */
    static void unload(DriverState state, DriverModule module) {
        state.handles().remove(module);
        state.handles().removeIf(object -> object instanceof DeviceFunction function && function.module() == module);
        module.references().values().forEach(state.handles()::remove);
        module.forget();
        state.whenQuiet(module::close);
    }

    private void function(Call call) {
        long out = call.pointer(0);
        call.context();
        DriverModule module = call.object(1, DriverModule.class);
        HostMemory.putLong(out, state.handles().of(module.function(call.text(2))));
    }

    private void enumerate(Call call) {
        DriverModule module = call.object(2, DriverModule.class);
        long out = call.pointer(0);
        List<String> names = module.functionNames();
        for (int i = 0; i < Math.min(call.number(1), names.size()); i++) {
            HostMemory.putLong(out + 8L * i, state.handles().of(module.function(names.get(i))));
        }
    }

    /** Tells a variable's address and size, of which one may not be asked for. */
    static void variable(Call call, DriverModule module, String name) {
        GlobalVariable variable = module.variable(name);
        call.offerLong(0, variable.address());
        call.offerLong(1, variable.bytes());
    }
}

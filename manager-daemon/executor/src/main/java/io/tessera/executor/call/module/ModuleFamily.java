package io.tessera.executor.call.module;

import io.tessera.device.HandleKind;
import io.tessera.executor.call.CallChecks;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.ClientCompletion;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.fence.ClientFences;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.image.ClientImages;
import io.tessera.executor.memory.ClientMemory;

/** Code of one client: modules, libraries, their kernels, and the JIT's linker. One owner thread. */
public final class ModuleFamily {
    private final ModuleCalls modules;

    /** Enters the calls. */
    public ModuleFamily(DriverCalls driver, ClientHandles handles, ClientFences fences, ClientMemory memory, ClientCompletion completion,
            ClientImages images, CallChecks checks, CallTable calls) {
        this.modules = new ModuleCalls(driver, handles, fences, memory, completion, images, checks.results());
        modules.register(calls);
        new FunctionCalls(driver, fences, checks.structures(), checks.results()).register(calls);
        new LinkCalls(fences, handles.account(), completion.segment()).register(calls);
    }

    /** Ends a module or library with its context, by the value in the client's table. Returns a CUresult. */
    public int end(HandleKind kind, long value) {
        return modules.end(kind, value);
    }
}

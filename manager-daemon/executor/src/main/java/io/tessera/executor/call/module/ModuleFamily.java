package io.tessera.executor.call.module;

import io.tessera.device.HandleKind;
import io.tessera.executor.call.CallChecks;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.ClientState;

/** Code of one client: modules, libraries, their kernels, and the JIT's linker. One owner thread. */
public final class ModuleFamily {
    private final ModuleCalls modules;

    /** Enters the calls. */
    public ModuleFamily(ClientState client, CallChecks checks, CallTable calls) {
        this.modules = new ModuleCalls(client, checks.results());
        modules.register(calls);
        new FunctionCalls(client.driver(), client.fences(), checks.structures(), checks.results()).register(calls);
        new LinkCalls(client.fences(), client.handles().account(), client.segment()).register(calls);
    }

    /** Ends a module or library with its context, by what the client's table holds. Returns a CUresult. */
    public int end(HandleKind kind, long value) {
        return modules.end(kind, value);
    }
}

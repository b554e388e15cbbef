package io.tessera.executor.call.texture;

import io.tessera.device.HandleKind;
import io.tessera.executor.call.CallChecks;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.ClientExecution;
import io.tessera.executor.window.ClientWindow;

/** Arrays, textures and surfaces of one client. One owner thread. */
public final class TextureFamily {
    private final ArrayEnds ends;

    /** Enters the calls. */
    public TextureFamily(ClientExecution execution, ClientWindow window, CallChecks checks, CallTable calls) {
        this.ends = new ArrayEnds(execution.driver(), execution.fences(), execution.handles().deferredReleases());
        new ArrayCalls(execution.device(), execution.driver(), window, ends).register(calls);
        new ResourceCalls(execution.driver(), execution.fences(), execution.handles().deferredReleases(), checks, ends).register(calls);
    }

    /** Ends an array, texture or surface with its context, by the driver's value. Returns a CUresult. */
    public int end(HandleKind kind, long value) {
        return ends.end(kind, value);
    }
}

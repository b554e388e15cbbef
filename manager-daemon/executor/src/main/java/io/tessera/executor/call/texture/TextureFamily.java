package io.tessera.executor.call.texture;

import io.tessera.device.HandleKind;
import io.tessera.executor.call.CallChecks;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.fence.ClientFences;
import io.tessera.executor.handle.DeferredReleases;
import io.tessera.executor.window.ClientWindow;

/** Arrays, textures and surfaces of one client. One owner thread. */
public final class TextureFamily {
    private final ArrayEnds ends;

    /** Enters the calls. */
    public TextureFamily(DeviceContext device, DriverCalls driver, ClientFences fences, DeferredReleases releases, ClientWindow window,
            CallChecks checks, CallTable calls) {
        this.ends = new ArrayEnds(driver, fences, releases);
        new ArrayCalls(device, driver, window, ends).register(calls);
        new ResourceCalls(driver, fences, releases, checks, ends).register(calls);
    }

    /** Ends an array, texture or surface with its context, by the driver's value. Returns a CUresult. */
    public int end(HandleKind kind, long value) {
        return ends.end(kind, value);
    }
}

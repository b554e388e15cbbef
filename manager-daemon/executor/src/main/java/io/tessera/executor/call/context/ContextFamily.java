package io.tessera.executor.call.context;

import io.tessera.executor.call.CallChecks;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.handle.DeferredReleases;
import io.tessera.executor.ipc.ClientExports;
import io.tessera.executor.stream.ClientStream;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.executor.stream.EventWatch;
import java.util.function.Consumer;

/** Calls for the objects in a context of one client: its limits, streams and events. One owner thread. */
public final class ContextFamily {
    private ContextFamily() {
    }

    /** Enters the calls. */
    public static void register(DriverCalls driver, ClientStreams streams, EventWatch watch, ClientExports exports, DeferredReleases releases,
            Consumer<ClientStream> endsCapture, CallChecks checks, CallTable calls) {
        new LimitCalls(driver).register(calls);
        new StreamCalls(driver, streams, releases, endsCapture, checks).register(calls);
        new EventCalls(watch, exports, releases).register(calls);
    }
}

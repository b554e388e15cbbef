package io.tessera.executor.call.context;

import io.tessera.executor.call.CallChecks;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.ClientState;

/** What lives in a context of one client: its limits, streams and events. One owner thread. */
public final class ContextFamily {
    private ContextFamily() {
    }

    /** Enters the calls. */
    public static void register(ClientState client, CallChecks checks, CallTable calls) {
        new LimitCalls(client.driver()).register(calls);
        new StreamCalls(client.driver(), client.streams(), client.fences(), checks).register(calls);
        new EventCalls(client.watch(), client.exports()).register(calls);
    }
}

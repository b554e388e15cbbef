package io.tessera.agent.violation;

import io.tessera.protocol.relay.RecordKind;

/** The agent's classes are beside nothing else of ours in the application's JVM. */
public final class AgentKnowsTheProtocol {
    /** Uses it. */
    public RecordKind it() {
        return RecordKind.CALL;
    }
}

package io.tessera.agent.boot.violation;

import io.tessera.agent.host.AgentLog;

/** Nothing of the tooling can be found from the bootstrap loader. */
public final class KnowsTheTooling {
    /** Uses it. */
    public void it() {
        AgentLog.say("never");
    }
}

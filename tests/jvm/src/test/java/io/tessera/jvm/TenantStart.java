package io.tessera.jvm;

import io.tessera.testing.BuildOutputs;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** How a program becomes a tenant in space sharing. */
enum TenantStart {
    /** {@code tessera run java ...}. */
    WRAPPER,
    /** {@code java -javaagent:tessera-agent.jar ...}. */
    AGENT,
    /** {@code tessera run java -javaagent:tessera-agent.jar ...}. */
    BOTH;

    private boolean agent() {
        return this != WRAPPER;
    }

    private boolean wrapper() {
        return this != AGENT;
    }

    /** The command of a sample on a JVM, whose options come after the JVM's own. */
    List<String> command(Jvm jvm, Sample sample, Path agent, List<String> options) {
        List<String> command = new ArrayList<>();
        if (wrapper()) {
            command.addAll(List.of(BuildOutputs.tessera().toString(), "run", "--share", "space", "--no-manager", "--"));
        }
        command.addAll(jvm.command());
        if (agent()) {
            command.add("-javaagent:" + agent + "=share=space" + sample.agentOption());
        }
        command.addAll(options);
        command.addAll(List.of("-cp", BuildOutputs.samples(), sample.type()));
        command.addAll(sample.arguments());
        return command;
    }
}

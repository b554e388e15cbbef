package io.tessera.manager;

import io.tessera.manager.memory.InMemoryClient;
import io.tessera.manager.memory.RecordingLauncher.Started;
import io.tessera.manager.memory.SteppedManager;
import io.tessera.protocol.MemoryPlan;
import io.tessera.protocol.message.FenceWish;
import io.tessera.protocol.message.Hello;
import io.tessera.protocol.message.MessageEncoder;
import io.tessera.protocol.message.RelayMessageEncoder;
import org.junit.jupiter.api.AfterEach;

/** A manager on ports in memory, whose executors send what the test chooses. */
abstract class ExecutorSteps {
    SteppedManager stepped;

    @AfterEach
    void end() {
        stepped.close();
    }

    /** Returns a relayed client of a process, which has asked for its executors. */
    final InMemoryClient asking(int pid) throws Exception {
        InMemoryClient peer = stepped.connect(pid, 500).send(p -> MessageEncoder.hello(p,
                new Hello(pid, MemoryPlan.RELAY, 5, 1 << 20, "team", "train.py")));
        stepped.step();
        peer.heard();
        peer.send(p -> RelayMessageEncoder.ask(p, FenceWish.none()));
        stepped.step();
        return peer;
    }

    final Started executor(int start) {
        return stepped.launcher.started.get(start);
    }
}

package io.tessera.manager;

import static io.tessera.manager.memory.SteppedManager.GPU;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.memory.InMemoryClient;
import io.tessera.manager.memory.ManualClock;
import io.tessera.manager.memory.MemoryLinux;
import io.tessera.manager.memory.SteppedManager;
import io.tessera.manager.session.SegmentStore;
import io.tessera.protocol.MemoryPlan;
import io.tessera.protocol.segment.AckWord;
import io.tessera.protocol.segment.DeviceBlock;
import io.tessera.protocol.segment.SegmentHeader;
import io.tessera.protocol.segment.TurnWord;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A manager that follows a killed one: no client joins a device before the clients that could use it are back. */
class ReturningClientsTest {
    private static final int HOLDER = 42;
    private static final int KILLED = 99;

    private final MemoryLinux linux = new MemoryLinux(0);
    private SteppedManager stepped;

    @AfterEach
    void end() {
        stepped.close();
    }

    /** Leaves the segment of a client, as a killed manager does, and starts the next manager. */
    private void startAfter(int turn, int ack, long heartbeatNs) throws Exception {
        linux.files.makeDirectory(SteppedManager.DIRECTORY.shmDirectory(), 0711);
        SegmentHeader header = new SegmentHeader(new SegmentStore(linux.ports(), SteppedManager.DIRECTORY).create(500).segment().memory());
        header.initialise(new SegmentHeader.Identity(1, HOLDER, 4711, KILLED, 0, MemoryPlan.PLAIN, "team", "train.py"));
        header.managerHeartbeatNs(heartbeatNs);
        DeviceBlock block = header.device(0);
        block.registered(true);
        block.turn(TurnWord.of(5, turn));
        block.ack(AckWord.of(5, ack));
        header.publishVersion();
        linux.processes.add(HOLDER);
        stepped = new SteppedManager(linux, UnaryOperator.identity());
    }

    private static long now() {
        return new ManualClock().nowNs();
    }

    private InMemoryClient comes(int pid) throws Exception {
        InMemoryClient client = stepped.connect(pid, 500).hello("team", 0);
        stepped.step();
        client.block(0).ack(AckWord.of(0, AckWord.DRAINING));
        client.device(0, GPU);
        stepped.step();
        return client;
    }

    private void joined(int clients) {
        assertEquals(clients, stepped.schedulers.isEmpty() ? 0
                : stepped.schedulers.getFirst().heard.stream().filter(words -> words.startsWith("joined")).count());
    }

    @Test
    void nobodyJoinsBeforeTheHolderIsBackAndStopped() throws Exception {
        startAfter(TurnWord.GRANTED, AckWord.OPEN, now());
        InMemoryClient other = comes(43);
        other.block(0).ack(AckWord.of(0, AckWord.CLOSED));
        stepped.stepAfterMs(1000);
        joined(0);
        InMemoryClient holder = comes(HOLDER);
        stepped.stepAfterMs(1000);
        joined(0);
        holder.block(0).ack(AckWord.of(0, AckWord.CLOSED));
        holder.ring(0);
        stepped.step();
        joined(2);
        comes(44);
        joined(3);
    }

    @Test
    void aHolderThatDiesOrLeavesIsNotWaitedFor() throws Exception {
        startAfter(TurnWord.GRANTED, AckWord.OPEN, now());
        InMemoryClient other = comes(43);
        other.block(0).ack(AckWord.of(0, AckWord.CLOSED));
        linux.processes.remove(HOLDER);
        stepped.stepAfterMs(20);
        joined(1);
    }

    @Test
    void nobodyWaitsLongerThanGatesKeepTheirState() throws Exception {
        startAfter(TurnWord.CLOSED, AckWord.DRAINING, now() - 1_000_000_000L);
        comes(43); // this client does not stop either
        stepped.stepAfterMs(4400);
        joined(0);
        stepped.stepAfterMs(100);
        joined(1);
    }

    @Test
    void whoHadStoppedIsNotWaitedFor() throws Exception {
        startAfter(TurnWord.GRANTED, AckWord.RELEASED, now());
        comes(43);
        joined(1);
    }

    /** A manager that ends in order tells every client. */
    @Test
    void whoseManagerEndedInOrderIsNotWaitedFor() throws Exception {
        startAfter(TurnWord.GRANTED, AckWord.OPEN, 0);
        InMemoryClient client = comes(43);
        joined(1);
        SegmentHeader header = new SegmentHeader(client.segment());
        assertTrue(header.managerHeartbeatNs() != 0);
        stepped.close();
        assertEquals(0, header.managerHeartbeatNs());
    }
}

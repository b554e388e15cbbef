package io.tessera.manager;

import static io.tessera.manager.memory.SteppedManager.GPU;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.memory.InMemoryClient;
import io.tessera.manager.memory.RecordingScheduler;
import io.tessera.manager.memory.SteppedManager;
import io.tessera.manager.schedule.SchedulerMode;
import io.tessera.manager.schedule.turn.TurnState;
import io.tessera.manager.schedule.turn.TurnTerms;
import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.message.MessageEncoder;
import io.tessera.protocol.segment.AckWord;
import io.tessera.protocol.segment.SegmentHeader;
import io.tessera.protocol.segment.SegmentLayout;
import io.tessera.protocol.segment.TurnWord;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The whole manager step by step: the order and the times of events. */
@Timeout(180)
class ManagerStepTest {
    private static final DeviceUuid OTHER_GPU = new DeviceUuid(1, 2);

    private SteppedManager stepped;

    @BeforeEach
    void start() throws Exception {
        stepped = new SteppedManager();
    }

    @AfterEach
    void everythingIsGivenBack() {
        stepped.close();
        assertEquals(List.of(), stepped.segments());
        assertEquals(0, stepped.linux.openDescriptors(), "open descriptors");
    }

    private RecordingScheduler scheduler() {
        return stepped.schedulers.getFirst();
    }

    @Test
    void aDefectThatAClientFindsEndsThatClientAlone() throws Exception {
        InMemoryClient other = stepped.connect(42, 500).hello("other", 0);
        other.device(0, GPU);
        stepped.step();
        scheduler().defect = new IllegalStateException("a defect");
        InMemoryClient finder = stepped.connect(43, 500).hello("finder", 0);
        finder.device(0, GPU);
        stepped.step();
        List<String> heard = finder.heard();
        assertEquals(List.of("refused 2: the manager failed at a packet: java.lang.IllegalStateException: a defect", "closed"),
                heard.subList(heard.size() - 2, heard.size()));
        stepped.stepAfterMs(50);
        InMemoryClient third = stepped.connect(44, 500).hello("third", 0);
        third.device(0, GPU);
        stepped.step();
        assertEquals("welcome 3", third.heard().getFirst());
        assertFalse(other.heard().contains("closed"));
        assertTrue(scheduler().heard.containsAll(List.of("joined 1", "joined 3")), scheduler().heard::toString);
    }

    /**
     * Compiled code throws a fault of a mapping after the access, without the segment's identity. It does so in every cycle until no code accesses
     * the segment any more, even if the client's connection has ended and its process still exists.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aSegmentCutShortEndsItsClientAloneWhenTheFaultComesLate(boolean ending) throws Exception {
        InMemoryClient good = stepped.connect(42, 500).hello("good", 0);
        good.device(0, GPU);
        InMemoryClient bad = stepped.connect(43, 500).hello("bad", 0);
        bad.device(0, GPU);
        stepped.step();
        stepped.linux.files.cut(Path.of("/dev/shm/tessera-0/client-2.segment"));
        long[] wants = {0};
        scheduler().hearing = clientId -> {
            if (clientId == 2) {
                bad.block(0).wantSinceNs(++wants[0]); // and so in the next cycle again
                throw new InternalError("a fault occurred in an unsafe memory access operation");
            }
        };
        bad.block(0).wantSinceNs(++wants[0]);
        if (ending) {
            bad.close();
            stepped.step();
        }
        for (int i = 1; i <= 200; i++) {
            good.block(0).wantSinceNs(i);
            stepped.step();
            assertTrue(scheduler().heardSince().stream().anyMatch(words -> words.startsWith("wants 1 ")) || i == 1, "cycle " + i);
        }
        assertFalse(good.heard().contains("closed"));
        assertTrue(ending || bad.heard().contains("closed"));
        stepped.stepAfterMs(50);
        assertTrue(scheduler().heardSince().contains("left 2"));
    }

    @Test
    void aClientComesTakesTurnsAndGoes() throws Exception {
        InMemoryClient peer = stepped.connect(42, 500).hello("team", 0);
        stepped.step();
        assertEquals(List.of("welcome 1"), peer.heard());
        Path file = Path.of("/dev/shm/tessera-0/client-1.segment");
        assertEquals(List.of(file), stepped.segments());
        assertEquals(500, stepped.linux.files.ownerOf(file));
        SegmentHeader header = new SegmentHeader(peer.segment());
        assertEquals(SegmentLayout.VERSION, header.version());
        assertEquals(42, header.clientPid());
        assertEquals(1000, header.managerPid());
        assertEquals(4711, header.clientStartTicks());
        assertEquals(stepped.clock.nowNs(), header.managerHeartbeatNs());

        peer.device(3, GPU);
        stepped.step();
        assertTrue(peer.block(3).registered());
        assertEquals(List.of("mode AUTO", "joined 1"), scheduler().heardSince());

        peer.block(3).wantSinceNs(stepped.clock.nowNs() - 5);
        peer.ring(3);
        stepped.step();
        assertEquals(List.of("wants 1 since 5"), scheduler().heardSince());

        scheduler().order(1, 1, TurnState.GRANTED, stepped.clock.nowNs());
        assertEquals(List.of("lease 3 18446744073709551615", "bell 3"), peer.heard());
        assertEquals(TurnWord.of(1, TurnWord.GRANTED), peer.block(3).turn());

        peer.block(3).wantSinceNs(0);
        peer.block(3).ack(AckWord.of(1, AckWord.OPEN));
        peer.ring(3);
        stepped.step();
        assertEquals(List.of("wants 1 no", "ack 1 1 OPEN"), scheduler().heardSince());

        peer.die();
        stepped.step();
        assertEquals(List.of("left 1"), scheduler().heardSince(), "in the cycle in which the pidfd said so");
        assertEquals(List.of(), stepped.segments());
    }

    @Test
    void answersReachTheSchedulerBeforeTheQuestionThatFollowedThem() throws Exception {
        InMemoryClient peer = stepped.client(1);
        scheduler().order(1, 1, TurnState.GRANTED, stepped.clock.nowNs());
        scheduler().heardSince();
        peer.block(0).ack(AckWord.of(1, AckWord.RELEASED));
        peer.block(0).wantSinceNs(stepped.clock.nowNs());
        stepped.step();
        assertEquals(List.of("ack 1 1 RELEASED", "wants 1 since 0"), scheduler().heardSince(),
                "also without a bell: words are read in every cycle");
        peer.block(0).wantSinceNs(0);
        peer.block(0).ack(AckWord.of(0, AckWord.CLOSED));
        stepped.step();
        assertEquals(List.of("wants 1 no", "ack 1 0 CLOSED"), scheduler().heardSince(), "a question that is over");
    }

    @Test
    void theTurnWordIsWrittenAfterItsTermsAndBeforeTheBell() throws Exception {
        InMemoryClient peer = stepped.client(1);
        List<String> seen = new ArrayList<>();
        stepped.linux.beforeSend = () -> seen.add(peer.block(0).turn() + " " + peer.block(0).quantumNs() + " "
                + peer.block(0).paceNs() + " " + peer.block(0).idleReleaseNs() + " " + peer.block(0).flags());
        scheduler().order(1, 4, TurnState.CLOSED, stepped.clock.nowNs());
        scheduler().port.amend(1, new TurnTerms(1, 2, 3, false, true));
        assertEquals(List.of("1024 40 80 120 1", "1024 1 2 3 2"), seen);
    }

    @Test
    void aTurnIsFreeFiftyMillisecondsAfterTheConnectionEnded() throws Exception {
        InMemoryClient peer = stepped.client(1);
        scheduler().heardSince();
        peer.close();
        stepped.step();
        stepped.stepAfterMs(49);
        assertEquals(List.of(), scheduler().heardSince());
        assertEquals(1, stepped.segments().size());
        stepped.stepAfterMs(1);
        assertEquals(List.of("left 1"), scheduler().heardSince());
        assertEquals(List.of(), stepped.segments());
    }

    @Test
    void aTurnIsFreeWhenTheProcessIsGoneAlthoughAChildKeepsTheConnection() throws Exception {
        InMemoryClient peer = stepped.client(1);
        scheduler().heardSince();
        peer.dieLeavingTheConnection();
        stepped.step();
        assertEquals(List.of("left 1"), scheduler().heardSince());
        assertTrue(peer.isClosedByManager());
    }

    @Test
    void aProcessThatIsNotVisibleHereIsFollowedByItsConnection() throws Exception {
        InMemoryClient peer = stepped.client(0);
        scheduler().heardSince();
        peer.die();
        stepped.step();
        stepped.stepAfterMs(50);
        assertEquals(List.of("left 1"), scheduler().heardSince());
    }

    @Test
    void bellsThatDoNotFitAreRungLaterAndNobodyWaits() throws Exception {
        InMemoryClient deaf = stepped.client(1);
        InMemoryClient other = stepped.client(2);
        deaf.room = 0;
        scheduler().order(1, 1, TurnState.CLOSED, stepped.clock.nowNs());
        scheduler().order(1, 2, TurnState.FREE, stepped.clock.nowNs());
        scheduler().order(2, 1, TurnState.GRANTED, stepped.clock.nowNs());
        assertEquals(List.of("bell 0"), other.heard());
        stepped.step();
        assertEquals(List.of(), deaf.heard());
        assertEquals(TurnWord.of(2, TurnWord.FREE), deaf.block(0).turn(), "the word is the truth");
        deaf.room = 10;
        stepped.step();
        assertEquals(List.of("bell 0"), deaf.heard(), "two orders, one bell");
    }

    @Test
    void heartbeatsComeTwiceASecondAtLeast() throws Exception {
        InMemoryClient peer = stepped.client(1);
        SegmentHeader header = new SegmentHeader(peer.segment());
        for (int i = 0; i < 8; i++) {
            stepped.stepAfterMs(250);
            assertEquals(stepped.clock.nowNs(), header.managerHeartbeatNs());
        }
    }

    @Test
    void malformedPacketsEndTheirConnectionAndTouchNobodyElse() throws Exception {
        InMemoryClient good = stepped.client(1);
        List<InMemoryClient> bad = new ArrayList<>();
        bad.add(stepped.connect(2, 500).sendRaw(new byte[5]));
        bad.add(stepped.connect(3, 500).hello("t", 0).hello("t", 0));
        bad.add(stepped.connect(4, 500).device(0, GPU));
        bad.add(stepped.connect(5, 500).hello("t", 0).send(p -> MessageEncoder.doorbell(p, 16)));
        bad.add(stepped.connect(6, 500).hello("t", 0).device(0, GPU).device(0, OTHER_GPU));
        bad.add(stepped.connect(7, 500).hello("t", 0).device(0, GPU).device(1, GPU));
        bad.add(stepped.connect(8, 500).hello("t", 0).send(p -> MessageEncoder.quotaAsk(p, 0, 1)));
        bad.add(stepped.connect(9, 500).hello("t", 0).send(p -> MessageEncoder.quotaTrim(p, 0)));
        stepped.step();
        for (InMemoryClient peer : bad) {
            List<String> heard = peer.heard();
            assertTrue(heard.get(heard.size() - 2).startsWith("refused 2: "), heard.toString());
            assertEquals("closed", heard.getLast());
        }
        InMemoryClient newer = stepped.connect(10, 500).send(p -> {
            int bytes = MessageEncoder.doorbell(p, 0);
            p.set(ValueLayout.JAVA_SHORT, 6, (short) 9);
            return bytes;
        });
        stepped.step();
        assertEquals(List.of("refused 1: the peer speaks version 9, this side version 1", "closed"), newer.heard());
        stepped.stepAfterMs(50);
        assertEquals(List.of(), good.heard());
        assertEquals(1, stepped.segments().size());
        assertEquals(9, stepped.manager.errors().entries().size(), "each distinct error once");
        stepped.connect(11, 500).sendRaw(new byte[5]);
        stepped.step();
        assertEquals(2, stepped.manager.errors().entries().getFirst().count());
    }

    @Test
    void answersToAFormerManagerAreNotHeardAndSenselessOnesEndTheSession() throws Exception {
        InMemoryClient peer = stepped.client(1);
        scheduler().heardSince();
        peer.block(0).ack(AckWord.of(57, AckWord.OPEN));
        stepped.step();
        assertEquals(List.of(), scheduler().heardSince());
        peer.block(0).ack(AckWord.of(0, 77));
        stepped.step();
        assertEquals(List.of("refused 2: its answer has no meaning: 77", "closed"), peer.heard());
    }

    @Test
    void aWaitThatBeginsInTheFutureBeginsNow() throws Exception {
        InMemoryClient peer = stepped.client(1);
        scheduler().heardSince();
        peer.block(0).wantSinceNs(Long.MAX_VALUE);
        stepped.step();
        assertEquals(List.of("wants 1 since 0"), scheduler().heardSince());
        peer.block(0).wantSinceNs(-1);
        stepped.step();
        assertEquals(1, scheduler().heardSince().size());
    }

    @Test
    void aClientThatIsEndedGetsTwoSecondsBeforeItIsKilled() throws Exception {
        InMemoryClient peer = stepped.client(1);
        scheduler().port.reportUndrained(1, 5);
        scheduler().port.end(1);
        stepped.step();
        assertEquals(List.of(15), peer.signals);
        stepped.stepAfterMs(1_999);
        assertEquals(List.of(15), peer.signals);
        stepped.stepAfterMs(1);
        assertEquals(List.of(15, 9), peer.signals);
        peer.die();
        stepped.step();
        assertTrue(scheduler().heard.contains("left 1"));
        scheduler().port.end(1); // a client that is gone is no longer known
        scheduler().order(1, 9, TurnState.FREE, stepped.clock.nowNs());
        stepped.step();
    }

    @Test
    void modesOfSignalsReachAllDevicesAndThoseToCome() throws Exception {
        stepped.client(1);
        scheduler().heardSince();
        stepped.manager.mode(SchedulerMode.ON);
        stepped.step();
        assertEquals(List.of("mode ON"), scheduler().heardSince());
        stepped.connect(2, 500).hello("x", 0).device(0, OTHER_GPU);
        stepped.step();
        assertEquals(List.of("mode ON", "joined 2"), stepped.schedulers.get(1).heardSince());
    }

    @Test
    void schedulersHearWhetherATenantSpansDevices() throws Exception {
        InMemoryClient wide = stepped.connect(1, 500).hello("wide", 0).device(0, GPU).device(1, OTHER_GPU);
        stepped.connect(2, 500).hello("narrow", 0).device(0, GPU);
        stepped.step();
        for (RecordingScheduler scheduler : stepped.schedulers) {
            assertTrue(scheduler.heardSince().contains("spans true"));
        }
        wide.close();
        stepped.step();
        stepped.stepAfterMs(50);
        assertTrue(stepped.schedulers.getFirst().heardSince().contains("spans false"));
    }

    @Test
    void thePacketsOfOneCycleAreBounded() throws Exception {
        InMemoryClient peer = stepped.client(1);
        for (int i = 0; i < 200; i++) {
            peer.ring(0);
        }
        assertEquals(1, stepped.manager.doWork());
        assertTrue(stepped.linux.await(pollSet(), 0, (token, events) -> {}) > 0, "the rest waits for the next cycle");
    }

    private int pollSet() {
        for (int descriptor = 3; descriptor < 100; descriptor++) {
            if (stepped.linux.isPollSet(descriptor)) {
                return descriptor;
            }
        }
        throw new AssertionError("no poll set");
    }

    @Test
    void closingTheManagerEndsEveryConnection() throws Exception {
        InMemoryClient peer = stepped.client(1);
        InMemoryClient silent = stepped.connect(2, 500);
        stepped.step();
        stepped.close();
        assertTrue(peer.isClosedByManager());
        assertTrue(silent.isClosedByManager());
        assertFalse(stepped.linux.files.paths().contains(Path.of("/run/tessera/manager.pid")));
    }
}

package io.tessera.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.memory.InMemoryClient;
import io.tessera.manager.memory.SteppedManager;
import io.tessera.manager.schedule.turn.TurnState;
import io.tessera.os.Errno;
import io.tessera.protocol.segment.AckWord;
import io.tessera.protocol.segment.CounterId;
import io.tessera.protocol.segment.SegmentHeader;
import io.tessera.protocol.segment.SegmentLayout;
import io.tessera.protocol.segment.SubmissionKind;
import io.tessera.protocol.segment.ThreadSlot;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The control socket, byte for byte. */
@Timeout(180)
class ControlStepTest {
    private static final String OK = "{\"ok\":true}\n";
    private static final String MALFORMED = "{\"ok\":false,\"error\":\"malformed JSON: a line must be one JSON object\"}\n";

    private SteppedManager stepped;

    @BeforeEach
    void start() throws Exception {
        stepped = new SteppedManager();
    }

    @AfterEach
    void end() {
        stepped.close();
    }

    private String say(InMemoryClient peer, String text) throws Exception {
        peer.sendRaw(text.getBytes(StandardCharsets.UTF_8));
        stepped.step();
        return peer.heardText();
    }

    @Test
    void statusIsExactlyThatOfTheSpecification() throws Exception {
        InMemoryClient client = stepped.client(42, "team \"ä\"", 1 << 20);
        stepped.client(43);
        stepped.schedulers.getFirst().order(1, 2, TurnState.GRANTED, stepped.clock.nowNs());
        MemorySegment segment = client.segment();
        client.block(0).ack(AckWord.of(2, AckWord.OPEN));
        client.block(0).usedBytes(4096);
        client.block(0).usedBytes(1024);
        ThreadSlot.of(segment, 0).add(SubmissionKind.LAUNCH, 0, 10);
        ThreadSlot.of(segment, 1).add(SubmissionKind.GRAPH_LAUNCH, 0, 3);
        ThreadSlot.of(segment, 1).add(SubmissionKind.COPY, 0, 4);
        setDevice(segment, "managed_bytes", 512);
        setDevice(segment, "turns", 5);
        setDevice(segment, "held_ns", 6);
        setDevice(segment, "wait_ns", 7);
        setDevice(segment, "drains", 8);
        setDevice(segment, "drain_ns", 9);
        setDevice(segment, "drain_max_ns", 10);
        setDevice(segment, "drain_last_ns", 11);
        setDevice(segment, "busy_samples", 3);
        setDevice(segment, "samples", 4);
        segment.set(ValueLayout.JAVA_LONG, SegmentLayout.COUNTERS_OFFSET + 8L * CounterId.ALLOCATIONS.index(), 12);
        segment.set(ValueLayout.JAVA_LONG, SegmentLayout.COUNTERS_OFFSET + 8L * CounterId.GATE_WAIT_NS.index(), 13);
        error(segment, 2, 14, "out of memory");
        new SegmentHeader(segment).clientHeartbeatNs(stepped.clock.nowNs());
        say(stepped.control(500), "{\"request\":\"admission\",\"tenant\":\"later\",\"pid\":44,\"startTicks\":4711,\"guaranteeBytes\":64,"
                + "\"device\":\"" + SteppedManager.GPU + "\"}\n");
        stepped.stepAfterMs(100);
        client.block(0).wantSinceNs(stepped.clock.nowNs() - 33);
        String golden;
        try (InputStream file = ControlStepTest.class.getResourceAsStream("status.json")) {
            golden = new String(file.readAllBytes(), StandardCharsets.UTF_8).replaceAll("\\n *", "") + "\n";
        }
        assertEquals(golden, say(stepped.control(500), "{\"request\":\"status\"}\n"));
    }

    private static void setDevice(MemorySegment segment, String field, long value) {
        segment.set(ValueLayout.JAVA_LONG,
                SegmentLayout.DEVICES_OFFSET + SegmentLayout.offset(SegmentLayout.DEVICE, field), value);
    }

    private static void error(MemorySegment segment, int code, long count, String text) {
        long at = SegmentLayout.ERRORS_OFFSET;
        segment.set(ValueLayout.JAVA_INT, at + SegmentLayout.offset(SegmentLayout.ERROR, "code"), code);
        segment.set(ValueLayout.JAVA_LONG, at + SegmentLayout.offset(SegmentLayout.ERROR, "count"), count);
        segment.setString(at + SegmentLayout.offset(SegmentLayout.ERROR, "text"), text);
        segment.set(ValueLayout.JAVA_INT, at, 1);
    }

    @Test
    void theVersionIsThatOfTheBuild() throws Exception {
        String pom = Files.readString(Path.of("pom.xml"));
        String version = pom.substring(pom.indexOf("<version>") + 9, pom.indexOf("</version>"));
        assertTrue(say(stepped.control(0), "{\"request\":\"status\"}\n").contains("\"version\":\"" + version + "\""));
    }

    @Test
    void oneConnectionServesManyRequests() throws Exception {
        InMemoryClient peer = stepped.control(0);
        assertEquals(OK + OK, say(peer, "{\"request\":\"ping\"}\n{\"request\":\"ping\"}\n"));
        assertEquals("", say(peer, "{\"requ"));
        assertEquals(OK, say(peer, "est\":\"ping\"}\n"));
        assertEquals(OK.repeat(50), say(peer, "{\"request\":\"ping\"}\n".repeat(50)));
        assertFalse(peer.isClosedByManager());
    }

    @Test
    void modeAndQuantumGoToOneDeviceOrAll() throws Exception {
        stepped.client(1);
        InMemoryClient root = stepped.control(0);
        stepped.schedulers.getFirst().heardSince();
        assertEquals(OK, say(root, "{\"request\":\"scheduler\",\"mode\":\"on\"}\n"));
        assertEquals(OK, say(root, "{\"request\":\"quantum\",\"ns\":500000000}\n"));
        assertEquals(OK, say(root, "{\"request\":\"scheduler\",\"mode\":\"off\",\"device\":\"" + SteppedManager.GPU
                + "\"}\n"));
        assertEquals(OK, say(root, "{\"request\":\"quantum\",\"ns\":5e7,\"device\":\"" + SteppedManager.GPU + "\"}\n"));
        assertEquals(List.of("mode ON", "quantum 500000000", "mode OFF", "quantum 50000000"),
                stepped.schedulers.getFirst().heardSince());
        String unknown = say(root, "{\"request\":\"scheduler\",\"mode\":\"on\",\"device\":"
                + "\"GPU-00000000-0000-0000-0000-000000000001\"}\n");
        assertEquals("{\"ok\":false,\"error\":\"no client has announced this device\"}\n", unknown);
    }

    @Test
    void wrongRequestsAreAnsweredAndTheConnectionStays() throws Exception {
        InMemoryClient root = stepped.control(0);
        for (String wrong : List.of("{}", "{\"request\":1}", "{\"request\":\"sing\"}",
                "{\"request\":\"scheduler\"}", "{\"request\":\"scheduler\",\"mode\":\"ON\"}",
                "{\"request\":\"quantum\"}", "{\"request\":\"quantum\",\"ns\":\"1\"}",
                "{\"request\":\"quantum\",\"ns\":1.5}", "{\"request\":\"quantum\",\"ns\":1e99}",
                "{\"request\":\"quantum\",\"ns\":1}", "{\"request\":\"admission\"}",
                "{\"request\":\"admission\",\"tenant\":\"a\",\"pid\":0,\"startTicks\":1}",
                "{\"request\":\"admission\",\"tenant\":\"a\",\"pid\":1,\"startTicks\":0}",
                "{\"request\":\"admission\",\"tenant\":\"a\",\"pid\":1}", "{\"request\":\"admission\",\"tenant\":\"\",\"pid\":1,\"startTicks\":1}",
                "{\"request\":\"admission\",\"tenant\":\"a\",\"pid\":1,\"startTicks\":1,\"guaranteeBytes\":-1}",
                "{\"request\":\"scheduler\",\"mode\":\"on\",\"device\":\"0\"}")) {
            String answer = say(root, wrong + "\n");
            assertTrue(answer.startsWith("{\"ok\":false,\"error\":\""), wrong + " -> " + answer);
        }
        assertEquals(OK, say(root, "{\"request\":\"ping\"}\n"));
    }

    @Test
    void malformedJsonEndsTheConnection() throws Exception {
        for (String wrong : List.of("nonsense", "", "[]", "{\"request\":\"ping\"", "{\"request\":\"ping\"} {}", "null",
                "{'request':'ping'}", "[".repeat(60_000))) {
            InMemoryClient peer = stepped.control(0);
            assertEquals(MALFORMED, say(peer, wrong + "\n"), wrong);
            assertTrue(peer.isClosedByManager(), wrong);
        }
        InMemoryClient latin = stepped.control(0).sendRaw(new byte[] {'"', (byte) 0xe4, '"', '\n'});
        stepped.step();
        assertEquals("{\"ok\":false,\"error\":\"malformed JSON: a line must be UTF-8\"}\n", latin.heardText());
        assertTrue(latin.isClosedByManager());
    }

    @Test
    void aLineOfMoreThan64KiBEndsTheConnection() throws Exception {
        InMemoryClient peer = stepped.control(0);
        assertEquals("", say(peer, "x".repeat(65_536)));
        assertEquals("{\"ok\":false,\"error\":\"a line must not be longer than 65536 bytes\"}\n", say(peer, "x"));
        assertTrue(peer.isClosedByManager());
    }

    @Test
    void onlyAdministratorsMayChangeThings() throws Exception {
        InMemoryClient user = stepped.control(1001);
        assertEquals(OK, say(user, "{\"request\":\"ping\"}\n"));
        assertTrue(say(user, "{\"request\":\"status\"}\n").startsWith("{\"ok\":true"));
        for (String request : List.of("{\"request\":\"stop\"}", "{\"request\":\"scheduler\",\"mode\":\"on\"}",
                "{\"request\":\"quantum\",\"ns\":500000000}", "{\"request\":\"policy\",\"policy\":\"fair\"}",
                "{\"request\":\"tenant\",\"tenant\":\"a\",\"reset\":true}", "{\"request\":\"limit\",\"tenant\":\"a\",\"bytes\":1,\"ahead\":true}")) {
            assertEquals("{\"ok\":false,\"error\":\"only root, user 0, to whom this manager belongs, and members of the group tessera may do that; "
                    + "you are user 1001\"}\n", say(user, request + "\n"));
        }
        assertFalse(stepped.manager.isStopping());
        assertEquals(OK, say(stepped.control(0), "{\"request\":\"stop\"}\n"));
        assertTrue(stepped.manager.isStopping());
    }

    @Test
    void aTenantsTermsAreSetSeenAndReset() throws Exception {
        stepped.client(42, "alice", 0);
        InMemoryClient root = stepped.control(0);
        stepped.schedulers.getFirst().heardSince();
        String alice = "{\"request\":\"tenant\",\"tenant\":\"alice of user 500\"";
        String set = "{\"ok\":true,\"tenant\":\"alice of user 500\",\"terms\":{\"weight\":%s,\"priority\":%s,\"class\":\"%s\",\"hardCap\":%s,"
                + "\"softCap\":1.0,\"targetNs\":0,\"replayable\":false},\"policies\":[\"%s\"],\"unused\":[%s]}\n";
        assertEquals(set.formatted(1, 0, "batch", "1.0", "round-robin", ""), say(root, alice + "}\n"));
        assertEquals(set.formatted(3, -5, "interactive", "0.5", "round-robin", "\"priority\",\"class\""), say(root, alice
                + ",\"set\":{\"weight\":3,\"priority\":-5,\"class\":\"interactive\",\"hardCap\":0.5}}\n"));
        assertEquals(List.of("terms of alice of user 500: 3"), stepped.schedulers.getFirst().heardSince());
        assertEquals(OK, say(root, "{\"request\":\"policy\",\"policy\":\"priority\"}\n"));
        InMemoryClient owner = stepped.control(500);
        assertEquals(set.formatted(3, -5, "interactive", "0.5", "priority", "\"weight\""),
                say(owner, "{\"request\":\"tenant\",\"tenant\":\"alice\"}\n"),
                "a user names its own tenants by their labels");
        assertTrue(say(owner, "{\"request\":\"status\"}\n").contains("\"terms\":{\"weight\":3,"));
        assertFalse(say(stepped.control(501), "{\"request\":\"status\"}\n").contains("\"terms\""), "what is set for others is not shown");
        assertEquals(set.formatted(7, 0, "batch", "1.0", "priority", "\"weight\""), say(root, alice + ",\"reset\":true,\"set\":{\"weight\":7}}\n"));
        assertEquals(set.formatted(1, 0, "batch", "1.0", "priority", ""), say(root, alice + ",\"reset\":true}\n"));
    }

    @Test
    void aTenantIsReplayableUntilItIsReset() throws Exception {
        stepped.client(42, "alice", 0);
        InMemoryClient root = stepped.control(0);
        String alice = "{\"request\":\"tenant\",\"tenant\":\"alice of user 500\"";
        String replayable = ",\"targetNs\":0,\"replayable\":true}";
        String refused = say(stepped.control(500), "{\"request\":\"tenant\",\"tenant\":\"alice\",\"set\":{\"replayable\":true}}\n");
        assertTrue(refused.startsWith("{\"ok\":false"), refused);
        String answer = say(root, alice + ",\"set\":{\"replayable\":true}}\n");
        assertTrue(answer.contains(replayable + ",\"policies\":[\"round-robin\"],\"unused\":[]"), answer);
        assertTrue(say(root, "{\"request\":\"status\"}\n").contains(replayable));
        assertTrue(say(root, alice + ",\"reset\":true}\n").contains("\"replayable\":false"));
    }

    @Test
    void whatIsSetAheadHoldsFromTheFirstContextOn() throws Exception {
        InMemoryClient root = stepped.control(0);
        String set = "{\"request\":\"tenant\",\"tenant\":\"bob of user 500\",\"set\":{\"weight\":4}";
        assertTrue(say(root, set + "}\n").contains("no client of tenant \\\"bob of user 500\\\" is on a device now"));
        assertTrue(say(root, set + ",\"ahead\":true}\n").startsWith("{\"ok\":true"));
        stepped.client(42, "bob", 0);
        assertTrue(say(root, "{\"request\":\"status\"}\n").contains("\"terms\":{\"weight\":4,"));
    }

    /** Its programs have ended, and its settings would apply to the next ones. */
    @Test
    void whatIsSetCanBeTakenBackWhenNobodyIsThere() throws Exception {
        InMemoryClient root = stepped.control(0);
        String bob = "{\"request\":\"tenant\",\"tenant\":\"bob of user 500\"";
        String nobody = "no client of tenant \\\"bob of user 500\\\" is on a device now";
        say(root, bob + ",\"set\":{\"weight\":4},\"ahead\":true}\n");
        assertTrue(say(root, bob + ",\"reset\":true,\"set\":{\"weight\":5}}\n").contains(nobody));
        assertTrue(say(root, bob + ",\"reset\":true}\n").startsWith("{\"ok\":true"));
        assertTrue(say(root, bob + "}\n").contains("\"weight\":1,"));
        assertTrue(say(root, bob + ",\"reset\":true}\n").contains(nobody), "nothing is set: the name may be wrong");
        say(root, bob + ",\"set\":{\"clients\":2},\"ahead\":true}\n");
        assertTrue(say(root, bob + ",\"reset\":true}\n").startsWith("{\"ok\":true"));
        assertFalse(say(root, bob + "}\n").contains("\"clients\""));
    }

    /** A label in HELLO is read with other characters than those by which a command may name it. */
    @Test
    void commandsKnowALabelAsTheProgramsThatHaveIt() throws Exception {
        InMemoryClient root = stepped.control(0);
        String odd = "{\"request\":\"tenant\",\"tenant\":\"a\\u001b\\nb of user 500\"";
        assertTrue(say(root, odd + ",\"set\":{\"weight\":4},\"ahead\":true}\n").startsWith("{\"ok\":true,\"tenant\":\"a??b of user 500\""));
        stepped.client(42, "a\u001b\nb", 0);
        assertTrue(say(root, "{\"request\":\"status\"}\n").contains("\"terms\":{\"weight\":4,"));
    }

    @Test
    void whatIsSetWhileAProgramRunsIsForgottenWithIt() throws Exception {
        InMemoryClient root = stepped.control(0);
        String bob = "{\"request\":\"tenant\",\"tenant\":\"bob of user 500\"";
        say(root, bob + ",\"set\":{\"weight\":4},\"ahead\":true,\"whileItRuns\":true}\n");
        InMemoryClient one = stepped.client(42, "bob", 0);
        InMemoryClient two = stepped.client(43, "bob", 0);
        one.die();
        stepped.step();
        assertTrue(say(root, bob + "}\n").contains("\"weight\":4,"));
        two.die();
        stepped.step();
        assertTrue(say(root, bob + "}\n").contains("\"weight\":1,"));
    }

    @Test
    void theJournalLosesATableWithTheLastProgramOfItsTenant() throws Exception {
        InMemoryClient root = stepped.control(0);
        say(root, "{\"request\":\"tenant\",\"tenant\":\"bob of user 500\",\"set\":{\"weight\":4},\"ahead\":true,\"whileItRuns\":true}\n");
        InMemoryClient one = stepped.client(42, "bob", 0);
        stepped.step();
        assertTrue(stepped.file("orders.toml").contains("[tenant.\"bob of user 500\"] # while it runs\nweight = 4\n"));
        one.die();
        stepped.step();
        assertFalse(stepped.file("orders.toml").contains("bob"), stepped.file("orders.toml"));
    }

    @Test
    void anOrderThatCannotBeWrittenDownSaysSoUntilItCanBe() throws Exception {
        stepped.client(42, "alice", 0);
        InMemoryClient root = stepped.control(0);
        String order = "{\"request\":\"policy\",\"policy\":\"fair\"}\n";
        String set = "{\"request\":\"tenant\",\"tenant\":\"alice of user 500\",\"set\":{\"weight\":4}}\n";
        String said = "what was ordered does not survive if this manager is killed: write(a file): ENOSPC";
        stepped.linux.files.writeErrno = Errno.ENOSPC;
        assertEquals("{\"ok\":true,\"notKept\":[\"" + said + "\"]}\n", say(root, order));
        assertTrue(say(root, set).contains(said));
        assertTrue(say(root, "{\"request\":\"status\"}\n").contains("\"ordersProblem\":\"" + said + "\""));
        stepped.linux.files.writeErrno = 0;
        stepped.stepAfterMs(1_100);
        assertFalse(say(root, "{\"request\":\"status\"}\n").contains("ordersProblem"));
        assertTrue(stepped.file("orders.toml").contains("policy = \"fair\"\n[tenant.\"alice of user 500\"]\nweight = 4\n"));
        assertEquals("{\"ok\":true}\n", say(root, order));
    }

    @Test
    void wrongTermsAreRefusedAndChangeNothing() throws Exception {
        stepped.client(42, "alice", 0);
        InMemoryClient root = stepped.control(0);
        String[][] wrong = {{"{\"weight\":0}", "weight 0: must be from 1 to 1000000"}, {"{\"weight\":1.5}", "must be a whole number"},
                {"{\"weight\":1e99}", "has too many digits"}, {"{\"weight\":\"3\"}", "must be a number"},
                {"{\"wieght\":3}", "a tenant has no \\\"wieght\\\""},
                {"{\"class\":\"fast\"}", "must be interactive or batch"}, {"{\"class\":null}", "must be interactive or batch"},
                {"{\"hardCap\":1.01}", "hard cap"}, {"{\"hardCap\":1e-30}", "hard cap 1.0E-30: must be from 0.00001 (0.001 %) to 1"},
                {"{\"targetNs\":86400000000001}", "target of 86400000000001 ns: must be from 0 to 86400000000000 ns (24 h)"},
                {"{\"softCap\":0}", "soft cap"}, {"{\"targetNs\":-1}", "target of -1 ns"}, {"{\"priority\":1001}", "priority 1001"},
                {"{\"replayable\":1}", "\\\"replayable\\\" must be true or false"}, {"{\"replayable\":\"true\"}", "must be true or false"},
                {"{\"replayable\":null}", "must be true or false"}, {"[]", "\\\"set\\\" must be an object"}};
        for (String[] one : wrong) {
            String answer = say(root, "{\"request\":\"tenant\",\"tenant\":\"alice of user 500\",\"set\":" + one[0] + "}\n");
            assertTrue(answer.startsWith("{\"ok\":false") && answer.contains(one[1]), one[0] + ": " + answer);
        }
        assertTrue(say(root, "{\"request\":\"tenant\",\"tenant\":\"\\ud800\",\"ahead\":true}\n").contains("half of a surrogate pair"));
        assertTrue(say(root, "{\"request\":\"policy\",\"policy\":\"fastest\"}\n").contains("there is no policy \\\"fastest\\\": fifo, round-robin"));
        assertFalse(say(root, "{\"request\":\"status\"}\n").contains("\"terms\""));
    }

    @Test
    void aLimitOfATenantThatIsNotThereIsRefusedUnlessItIsMeantAhead() throws Exception {
        InMemoryClient root = stepped.control(0);
        String limit = "{\"request\":\"limit\",\"tenant\":\"alcie\",\"bytes\":1";
        assertTrue(say(root, limit + "}\n").contains("no client of tenant \\\"alcie\\\" shares by space now"));
        assertEquals(OK, say(root, limit + ",\"ahead\":true}\n"));
        for (String tenant : List.of("", "x".repeat(5000))) {
            assertTrue(say(root, "{\"request\":\"limit\",\"tenant\":\"" + tenant + "\",\"bytes\":1,\"ahead\":true}\n")
                    .contains("a tenant's name has 1 to 82 bytes"));
        }
    }

    @Test
    void connectionsOfAUserAreBoundedAndTheirOldestSilentOneGoesFirst() throws Exception {
        stepped.close();
        stepped = new SteppedManager(0, context -> context);
        InMemoryClient silentNeighbour = stepped.control(1002);
        List<InMemoryClient> asking = new ArrayList<>();
        for (int i = 0; i < 31; i++) {
            asking.add(stepped.control(1001));
            assertEquals(OK, say(asking.getLast(), "{\"request\":\"ping\"}\n"));
        }
        InMemoryClient silent = stepped.control(1001);
        stepped.step();
        assertFalse(silent.isClosedByManager());
        InMemoryClient oneMore = stepped.control(1001);
        assertEquals(OK, say(oneMore, "{\"request\":\"ping\"}\n"));
        assertTrue(silent.heardText().startsWith("{\"ok\":false,\"error\":\"more control connections were opened than are admitted"));
        assertTrue(silent.isClosedByManager());
        InMemoryClient refused = stepped.control(1001);
        stepped.step();
        assertTrue(refused.heardText().startsWith("{\"ok\":false,\"error\":\"as many control connections"));
        assertTrue(refused.isClosedByManager());
        assertTrue(asking.stream().noneMatch(InMemoryClient::isClosedByManager));
        assertFalse(silentNeighbour.isClosedByManager(), "another user's connections are none of his");
        assertEquals(OK, say(stepped.control(1003), "{\"request\":\"ping\"}\n"));
    }

    @Test
    void idleConnectionsLockNobodyOut() throws Exception {
        stepped.close();
        stepped = new SteppedManager(0, context -> context);
        List<InMemoryClient> idle = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            idle.add(stepped.control(1001));
            stepped.step();
        }
        assertEquals(32, idle.stream().filter(InMemoryClient::isClosedByManager).count());
        for (int uid : new int[] {0, 1001, 1002}) {
            assertEquals(OK, say(stepped.control(uid), "{\"request\":\"ping\"}\n"));
        }
    }

    @Test
    void whoAsksNothingGoesSoonAndWhoHasAskedLater() throws Exception {
        InMemoryClient silent = stepped.control(0);
        InMemoryClient drips = stepped.control(0);
        InMemoryClient asks = stepped.control(0);
        assertEquals(OK, say(asks, "{\"request\":\"ping\"}\n"));
        stepped.stepAfterMs(4_000);
        assertEquals("", say(drips, "{"));
        assertFalse(silent.isClosedByManager());
        stepped.stepAfterMs(1_000);
        assertEquals("{\"ok\":false,\"error\":\"nothing was asked for 5 s\"}\n", silent.heardText());
        assertTrue(silent.isClosedByManager());
        assertTrue(drips.isClosedByManager(), "a byte now and then is no request");
        stepped.stepAfterMs(54_999);
        assertFalse(asks.isClosedByManager());
        stepped.stepAfterMs(1);
        assertTrue(asks.isClosedByManager());
    }

    @Test
    void whoDoesNotReadItsAnswerHoldsUpNobody() throws Exception {
        InMemoryClient deaf = stepped.control(0);
        deaf.room = 0;
        assertEquals("", say(deaf, "{\"request\":\"ping\"}\n".repeat(300)));
        assertEquals(OK, say(stepped.control(0), "{\"request\":\"ping\"}\n"));
        deaf.room = Integer.MAX_VALUE;
        stepped.step();
        stepped.step();
        stepped.step();
        assertEquals(OK.repeat(300), deaf.heardText());
    }
}

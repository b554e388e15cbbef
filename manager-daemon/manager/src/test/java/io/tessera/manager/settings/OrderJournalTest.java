package io.tessera.manager.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.admission.ClientTerms;
import io.tessera.manager.conductor.DeviceRegistry;
import io.tessera.manager.conductor.DeviceSharing;
import io.tessera.manager.conductor.Leases;
import io.tessera.manager.conductor.ShareRules;
import io.tessera.manager.conductor.TenantShares;
import io.tessera.manager.memory.MemoryLinux;
import io.tessera.manager.memory.RecordingScheduler;
import io.tessera.manager.schedule.SchedulerMode;
import io.tessera.manager.session.DistinctErrors;
import io.tessera.os.FilePort;
import io.tessera.os.linux.Linux;
import io.tessera.policy.PolicyName;
import io.tessera.policy.TenantClass;
import io.tessera.policy.TenantTerms;
import io.tessera.protocol.DeviceUuid;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OrderJournalTest {
    private static final Path DIRECTORY = Path.of("/run/tessera");
    private static final DeviceUuid GPU = new DeviceUuid(1, 2);

    private final FilePort files = new MemoryLinux(0).ports().files();

    static DeviceRegistry registry() {
        return new DeviceRegistry(new DistinctErrors(() -> 0), (total, port, now) -> new RecordingScheduler(port), new Leases(), new TenantShares(0),
                SchedulerMode.AUTO, PolicyName.ROUND_ROBIN);
    }

    private DeviceRegistry restored() {
        DeviceRegistry registry = registry();
        new OrderJournal(files, DIRECTORY, registry).restore((_, _) -> {}, 0);
        return registry;
    }

    @Test
    void theNextManagerGoesOnWithWhatWasOrdered() {
        DeviceRegistry before = registry();
        OrderJournal journal = new OrderJournal(files, DIRECTORY, before);
        assertTrue(before.order(Optional.empty(), DeviceSharing.of(SchedulerMode.ON), 0));
        before.order(Optional.empty(), DeviceSharing.of(PolicyName.FAIR), 0);
        before.order(Optional.empty(), DeviceSharing.ofQuantum(123_456_789), 0);
        before.orders().restore(GPU, DeviceSharing.of(PolicyName.PRIORITY));
        TenantTerms terms = new TenantTerms(3, -7, TenantClass.INTERACTIVE, 0.255, 0.001, 5, true);
        String strange = "a \"b\"\\\n\u0001\u00e4 = [x]";
        before.terms(strange, terms, false, 0);
        before.terms("plain", TenantTerms.DEFAULT.withHardCap(TenantTerms.MIN_CAP).withTargetNs(TenantTerms.MAX_TARGET_NS), false, 0);
        journal.write();
        DeviceRegistry after = restored();
        assertEquals(before.orders().all(), after.orders().all());
        assertEquals(Map.of(GPU, DeviceSharing.of(PolicyName.PRIORITY)), after.orders().devices());
        assertEquals(Map.of(strange, terms, "plain", TenantTerms.DEFAULT.withHardCap(1e-5).withTargetNs(TenantTerms.MAX_TARGET_NS)),
                after.shares().set());
    }

    @Test
    void whatWasOrderedOfAllDevicesCountsBeforeWhatIsWrittenDownForOne() {
        DeviceRegistry before = registry();
        before.order(Optional.empty(), DeviceSharing.of(PolicyName.FAIR), 0);
        before.orders().restore(GPU, DeviceSharing.ofQuantum(5_000_000));
        new OrderJournal(files, DIRECTORY, before).write();
        DeviceRegistry after = restored();
        assertEquals(DeviceSharing.of(PolicyName.FAIR), after.orders().all());
        assertEquals(new DeviceSharing(Optional.empty(), Optional.of(PolicyName.FAIR), OptionalLong.of(5_000_000)), after.orders().of(GPU));
    }

    /** Ten thousand tables, one by one: as one text they took more than the heap of a manager. */
    @Test
    void theLargestJournalIsReadAgain(@TempDir Path folder) {
        DeviceRegistry before = registry();
        for (int i = 0; i < TenantShares.MOST_TENANTS; i++) {
            before.terms("[tenant " + i, TenantTerms.DEFAULT.withWeight(1 + i % 9 + 1), false, 0);
        }
        FilePort real = Linux.open().files();
        new OrderJournal(real, folder, before).write();
        DeviceRegistry after = registry();
        new OrderJournal(real, folder, after).restore((_, _) -> {}, 0);
        assertEquals(before.shares().set(), after.shares().set());
    }

    @Test
    void whatWasResetIsGone() {
        DeviceRegistry before = registry();
        OrderJournal journal = new OrderJournal(files, DIRECTORY, before);
        before.terms("a", TenantTerms.DEFAULT.withWeight(2), false, 0);
        journal.write();
        before.terms("a", TenantTerms.DEFAULT, false, 0);
        journal.write();
        assertEquals(Map.of(), restored().shares().set());
    }

    @Test
    void whatLastsHoldsAgainAfterWhatHeldWhileATenantRanAlsoInTheNextManager() {
        TenantTerms lasting = TenantTerms.DEFAULT.withWeight(3);
        DeviceRegistry before = registry();
        OrderJournal journal = new OrderJournal(files, DIRECTORY, before);
        before.terms("a", lasting, false, 0);
        before.shares().clients("a", OptionalInt.of(2));
        before.terms("a", lasting.withWeight(5), true, 0);
        before.shares().clients("a", OptionalInt.of(7));
        before.terms("as written", lasting, false, 0);
        before.terms("as written", TenantTerms.DEFAULT, true, 0);
        journal.write();
        DeviceRegistry after = restored();
        assertEquals(5, after.shares().of("a").weight());
        assertEquals(Map.of("a", 7), after.shares().clients());
        assertEquals(TenantTerms.DEFAULT, after.shares().of("as written"));
        after.forgetAwaited();
        assertEquals(Map.of("a", lasting, "as written", lasting), after.shares().set());
        assertEquals(Map.of("a", 2), after.shares().clients());
    }

    @Test
    void whatHoldsWhileATenantRunsGoesWhereNoProgramOfItComesBack() {
        DeviceRegistry before = registry();
        before.terms("lasting", TenantTerms.DEFAULT.withWeight(2), false, 0);
        before.terms("passing\"] # while it runs", TenantTerms.DEFAULT.withWeight(3), false, 0);
        before.terms("passing", TenantTerms.DEFAULT.withWeight(4), true, 0);
        before.terms("said again", TenantTerms.DEFAULT.withWeight(5), true, 0);
        new OrderJournal(files, DIRECTORY, before).write();
        DeviceRegistry after = registry();
        OrderJournal journal = new OrderJournal(files, DIRECTORY, after);
        journal.restore((_, _) -> {}, 1_000);
        assertEquals(before.shares().set(), after.shares().set());
        assertEquals(0, journal.doWork(1_000 + OrderJournal.RETURN_NS - 1), "it is as it was read");
        after.terms("said again", TenantTerms.DEFAULT.withWeight(6), true, 2_000);
        assertEquals(1_000 + OrderJournal.RETURN_NS, journal.nextDeadlineNs());
        journal.doWork(journal.nextDeadlineNs());
        assertEquals(Set.of("lasting", "passing\"] # while it runs", "said again"), after.shares().set().keySet());
        assertEquals(after.shares().set(), restored().shares().set());
    }

    @Test
    void limitsAreKeptAsLongAsTheFileDoesNotSayOthers() {
        DeviceRegistry before = registry();
        OrderJournal journal = new OrderJournal(files, DIRECTORY, before);
        before.terms("a", TenantTerms.DEFAULT.withWeight(2), true, 0);
        journal.limit("a", 4096);
        journal.limit("b \"weight = \n", 0);
        journal.limit("c", Long.MAX_VALUE);
        journal.limit("d", 1);
        journal.write();
        journal.limitInFile("d");
        assertEquals(1, journal.doWork(0), "written without a command");
        DeviceRegistry after = registry();
        after.rules(new ShareRules(Map.of("c", TenantTerms.DEFAULT.withWeight(7)), Map.of(), ClientTerms.NONE), 0);
        Map<String, Long> limits = new HashMap<>();
        OrderJournal next = new OrderJournal(files, DIRECTORY, after);
        next.restore(limits::put, 0);
        assertEquals(Map.of("a", 4096L, "b \"weight = \n", 0L, "c", Long.MAX_VALUE), limits);
        assertEquals(before.shares().set(), after.shares().set(), "a limit says nothing about turns");
        assertEquals(7, after.shares().of("c").weight());
        assertTrue(after.shares().whileItRuns("a"));
        next.write();
        limits.clear();
        new OrderJournal(files, DIRECTORY, registry()).restore(limits::put, 0);
        assertEquals(3, limits.size(), "and for the manager after the next one");
    }

    @Test
    void numbersOfClientsAreKept() {
        DeviceRegistry before = registry();
        OrderJournal journal = new OrderJournal(files, DIRECTORY, before);
        before.terms("a", TenantTerms.DEFAULT.withWeight(2), true, 0);
        before.shares().clients("a", OptionalInt.of(3));
        before.shares().clients("b", OptionalInt.of(0));
        before.terms("c", TenantTerms.DEFAULT, true, 0);
        before.shares().clients("c", OptionalInt.of(1));
        before.shares().clients("d", OptionalInt.of(1));
        before.shares().clients("d", OptionalInt.empty());
        assertEquals(1, journal.doWork(0), "written without a command");
        DeviceRegistry after = registry();
        after.rules(new ShareRules(Map.of("b", TenantTerms.DEFAULT.withWeight(7)), Map.of(), ClientTerms.NONE), 0);
        new OrderJournal(files, DIRECTORY, after).restore((_, _) -> {}, 0);
        assertEquals(Map.of("a", 3, "b", 0, "c", 1), after.shares().clients());
        assertEquals(2, after.shares().of("a").weight());
        assertEquals(7, after.shares().of("b").weight(), "a number of clients says nothing about turns");
        assertTrue(after.shares().whileItRuns("c"));
        after.forgetAwaited();
        assertEquals(Map.of("b", 0), after.shares().clients(), "nobody has come back");
    }

    @Test
    void aManagerThatEndsInOrderLeavesNothing() {
        DeviceRegistry before = registry();
        OrderJournal journal = new OrderJournal(files, DIRECTORY, before);
        before.order(Optional.empty(), DeviceSharing.of(SchedulerMode.ON), 0);
        journal.write();
        journal.forget();
        assertEquals(DeviceSharing.UNSAID, restored().orders().all());
    }

    @Test
    void aJournalOfAnotherBootOrADamagedOneCountsForNothing() throws Exception {
        for (String text : new String[] {"# boot another\nmode = \"on\"\n", "", "mode = \"on\"\n"}) {
            put(text);
            assertEquals(DeviceSharing.UNSAID, restored().orders().all(), text);
        }
        DeviceRegistry before = registry();
        before.order(Optional.empty(), DeviceSharing.of(SchedulerMode.ON), 0);
        new OrderJournal(files, DIRECTORY, before).write();
        int descriptor = files.open(DIRECTORY.resolve("orders.toml"), FilePort.Open.READ, 0);
        String written = new String(files.read(descriptor, 4096), StandardCharsets.UTF_8);
        for (String damage : new String[] {"mode = ", "[tenant.\"\\ud800\"]\n", "x = " + "[".repeat(100_000)}) {
            put(written + damage);
            assertEquals(DeviceSharing.UNSAID, restored().orders().all(), damage);
        }
    }

    private void put(String text) throws Exception {
        files.remove(DIRECTORY.resolve("orders.toml"));
        files.write(files.open(DIRECTORY.resolve("orders.toml"), FilePort.Open.CREATE, 0600), text.getBytes(StandardCharsets.UTF_8));
    }
}

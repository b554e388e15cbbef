package io.tessera.executor.quota;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class TenantAccountTest {
    private static final long MIB = 1 << 20;

    @Test
    void clientsOfOneTenantShareAndOthersDoNot() {
        HostBudget budget = new HostBudget(100 * MIB, 10 * MIB, 150 * MIB);
        TenantAccount tenant = new TenantAccount(budget, budget);
        ClientAccount first = new ClientAccount(tenant);
        ClientAccount second = new ClientAccount(tenant);
        assertNull(first.take(Countable.STREAM, 1000, 0));
        String refusal = second.take(Countable.STREAM, 25, 0);
        assertTrue(refusal.contains("1024 streams") && refusal.contains("1000"), refusal);
        assertNull(second.take(Countable.STREAM, 24, 0));
        assertNull(new ClientAccount(new TenantAccount(budget, budget)).take(Countable.STREAM, 24, 0));
        first.close();
        assertEquals(24, tenant.count(Countable.STREAM));
        assertNull(second.take(Countable.STREAM, 25, 0));
    }

    @Test
    void bytesAreBoundedByTenantAndForAll() {
        HostBudget budget = new HostBudget(100 * MIB, 10 * MIB, 150 * MIB);
        ClientAccount greedy = new ClientAccount(new TenantAccount(budget, budget));
        assertNull(greedy.take(Countable.IMAGE, 1, 100 * MIB));
        String refusal = greedy.take(Countable.IMAGE, 1, 1);
        assertTrue(refusal.contains("100 MiB") && refusal.contains("images"), refusal);
        ClientAccount other = new ClientAccount(new TenantAccount(budget, budget));
        assertNull(other.take(Countable.IMAGE, 1, 50 * MIB));
        assertNotNull(other.take(Countable.IMAGE, 1, 1), "all together have what there is");
        ClientAccount modest = new ClientAccount(new TenantAccount(budget, budget));
        assertNull(modest.take(Countable.IMAGE, 1, 10 * MIB), "what is guaranteed is there whatever the others have");
        assertNotNull(modest.take(Countable.IMAGE, 1, 1));
        greedy.close();
        assertNull(modest.take(Countable.IMAGE, 1, 60 * MIB));
    }

    /** A tenant at its bound gives back whatever it ends. */
    @Test
    void whatIsGivenBackIsNeverRefused() {
        ClientAccount account = new ClientAccount(new TenantAccount(new HostBudget(MIB, MIB, MIB), HostBudget.ofMachine(MIB)));
        account.add(Countable.GRAPH_NODE, 100_000, 0);
        assertNotNull(account.refusal(Countable.GRAPH_NODE));
        assertNull(account.take(Countable.GRAPH_NODE, -100_000, 0));
        assertEquals(0, account.tenant().bytes());
    }

    @Test
    void threadsOfOneTenantNeverHaveMoreThanItMay() throws InterruptedException {
        TenantAccount tenant = new TenantAccount(HostBudget.ofHeap(1L << 32), HostBudget.ofMachine(1L << 32));
        CountDownLatch begin = new CountDownLatch(1);
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = Thread.ofPlatform().start(() -> {
                ClientAccount account = new ClientAccount(tenant);
                try {
                    begin.await();
                } catch (InterruptedException e) {
                    return;
                }
                for (int n = 0; n < Countable.STREAM.most(); n++) {
                    account.take(Countable.STREAM, 1, 0);
                }
            });
        }
        begin.countDown();
        for (Thread thread : threads) {
            thread.join(30_000);
        }
        assertEquals(Countable.STREAM.most(), tenant.count(Countable.STREAM));
    }

    @Test
    void dataOfCallsOnTheirWayIsBoundedForATenantAndForAll() {
        HostBudget forData = new HostBudget(100 * MIB, 10 * MIB, 150 * MIB);
        TenantAccount greedy = new TenantAccount(HostBudget.ofHeap(1L << 32), forData);
        TenantAccount other = new TenantAccount(HostBudget.ofHeap(1L << 32), forData);
        TenantAccount modest = new TenantAccount(HostBudget.ofHeap(1L << 32), forData);
        assertNull(greedy.data(100 * MIB));
        assertNotNull(greedy.data(1));
        assertNull(other.data(50 * MIB));
        assertNotNull(other.data(1));
        assertNull(modest.data(10 * MIB));
        assertNull(greedy.data(-100 * MIB));
        assertNull(other.data(40 * MIB));
        assertEquals(0, modest.bytes());
    }
}

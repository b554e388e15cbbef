package io.tessera.executor.quota;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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

    /** The line on a program's standard error when it has as many of a kind as a tenant may have. */
    @ParameterizedTest
    @EnumSource(Countable.class)
    void aBoundIsToldWithItsNumberAndWhatToDo(Countable kind) {
        HostBudget much = new HostBudget(1L << 40, 1L << 40, 1L << 40);
        ClientAccount account = new ClientAccount(new TenantAccount(much, much));
        assertNull(account.take(kind, kind.most(), 0));
        assertEquals("a tenant may have " + kind.most() + " " + kind.plural() + ", and this one has " + kind.most()
                + "; destroy what is not needed any more, or start a part of the programs with another --name", account.take(kind, 1, 0));
        assertTrue(kind.plural().matches("[a-z]+s( .*)?|.* [a-z]+s"), kind.plural());
    }

    /** The same when all its objects together need more of the executor's memory than it may have. */
    @ParameterizedTest
    @EnumSource(Countable.class)
    void theBoundOfAllObjectsIsToldWithWhatWasAskedFor(Countable kind) {
        HostBudget little = new HostBudget(MIB, MIB, MIB);
        ClientAccount account = new ClientAccount(new TenantAccount(little, little));
        String refusal = account.take(kind, 1, 2 * MIB);
        assertTrue(refusal.startsWith("the objects of a tenant may take 1 MiB of the executor's memory, or less while others use it; "), refusal);
        assertTrue(refusal.endsWith(" bytes more were asked for " + kind.plural()
                + "; destroy what is not needed any more, or start a part of the programs with another --name"), refusal);
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
        assertEquals("data of calls on their way may take 100 MiB for a tenant, or less while others use it; this one's take 100 MiB; "
                + "pass less in one call, or let fewer threads make such calls at a time", greedy.data(1));
        assertNull(other.data(50 * MIB));
        assertNotNull(other.data(1));
        assertNull(modest.data(10 * MIB));
        assertNull(greedy.data(-100 * MIB));
        assertNull(other.data(40 * MIB));
        assertEquals(0, modest.bytes());
    }
}

package io.tessera.executor.turn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.policy.PolicyName;
import io.tessera.policy.TenantTerms;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests the gate as clients see it, and its counters, with the test's own clock. */
class SubmissionGateTest {
    private static final long MS = 1_000_000L;
    private static final TenantTerms HEAVY = TenantTerms.DEFAULT.withWeight(3);

    private long nowNs = 1_000 * MS;
    private final SubmissionGate gate = new SubmissionGate(() -> nowNs);

    private void passes(long ns) {
        nowNs += ns;
        gate.look(nowNs);
    }

    private SubmissionGate.Client client(String tenant, boolean[] busy) {
        SubmissionGate.Client client = gate.join(tenant);
        client.begin(() -> busy[0]);
        return client;
    }

    @Test
    void timeIsSplitBetweenThoseWhoHaveWork() {
        boolean[] one = {true};
        boolean[] other = {false};
        SubmissionGate.Client first = client("one", one);
        SubmissionGate.Client second = client("one", one);
        SubmissionGate.Client third = client("other", other);
        passes(8 * MS);
        assertEquals(4 * MS, first.usedNs());
        other[0] = true;
        passes(8 * MS);
        assertEquals(6 * MS, first.usedNs());
        assertEquals(6 * MS, second.usedNs());
        assertEquals(4 * MS, third.usedNs());
        one[0] = false;
        other[0] = false;
        passes(100 * MS);
        assertEquals(16 * MS, first.usedNs() + second.usedNs() + third.usedNs(), "what nobody used is nobody's");
    }

    /** Work ends at any moment, also between two questions of one look. */
    @Test
    void whoseAnswerChangesIsCountedOnceOrNotAtAll() {
        Random random = new Random(3);
        SubmissionGate.Client one = gate.join("one");
        SubmissionGate.Client other = gate.join("other");
        one.begin(random::nextBoolean);
        other.begin(random::nextBoolean);
        gate.terms("one", HEAVY);
        long beganNs = nowNs;
        for (int look = 0; look < 10_000; look++) {
            passes(MS);
        }
        assertTrue(one.usedNs() + other.usedNs() <= nowNs - beganNs, one.usedNs() + " and " + other.usedNs());
    }

    @Test
    void whatEndsBetweenTwoLooksIsCounted() {
        boolean[] busy = {true};
        SubmissionGate.Client client = client("one", busy);
        client("other", new boolean[1]);
        gate.terms("one", HEAVY);
        passes(MS);
        busy[0] = false;
        nowNs += MS / 2;
        client.done();
        assertEquals(3 * MS / 2, client.usedNs());
    }

    @Test
    void whoWaitsIsCountedAsWaiting() {
        boolean[] busy = {true};
        SubmissionGate.Client holder = client("holder", busy);
        SubmissionGate.Client other = client("other", new boolean[1]);
        assertTrue(holder.mayGo() && other.mayGo());
        gate.terms("holder", HEAVY);
        assertTrue(holder.mayGo(), "nobody else has asked");
        holder.goes();
        assertFalse(other.mayGo());
        assertTrue(other.isHeld());
        assertEquals(1, gate.held());
        passes(7 * MS);
        assertEquals(7 * MS, other.waitedNs(), "it still waits");
        busy[0] = false;
        holder.done();
        passes(MS);
        assertTrue(other.mayGo());
        other.goes();
        assertEquals(8 * MS, other.waitedNs());
        assertEquals(0, gate.held());
    }

    @Test
    void aStreamThatWaitsForItsProgramKeepsNobodyWaiting() {
        SubmissionGate.Client holder = client("holder", new boolean[] {true});
        SubmissionGate.Client other = client("other", new boolean[1]);
        gate.terms("holder", HEAVY);
        assertTrue(holder.mayGo());
        holder.goes();
        assertFalse(other.mayGo());
        holder.stands(true);
        passes(MS);
        passes(MS);
        assertTrue(other.mayGo());
    }

    @Test
    void whatIsSetBeforeATenantComesHoldsWhenItComesAndIsForgottenWhenItLeaves() {
        gate.terms("later", HEAVY);
        client("other", new boolean[1]);
        assertFalse(gate.isActive());
        SubmissionGate.Client later = client("later", new boolean[1]);
        assertTrue(gate.isActive());
        later.leave();
        later.leave();
        assertFalse(gate.isActive());
        client("later", new boolean[1]);
        assertFalse(gate.isActive(), "the manager says it again");
    }

    @Test
    void policyAndUseAreAsTold() {
        client("one", new boolean[1]);
        client("other", new boolean[1]);
        gate.share(PolicyName.FAIR, TurnUse.ON);
        assertEquals(PolicyName.FAIR, gate.policy());
        assertEquals(TurnUse.ON, gate.use());
        assertTrue(gate.isActive());
    }

    @Test
    void clientsOfATenantHaveItsTurnTogether() {
        SubmissionGate.Client first = client("one", new boolean[1]);
        SubmissionGate.Client second = client("one", new boolean[1]);
        SubmissionGate.Client other = client("other", new boolean[1]);
        gate.terms("one", HEAVY);
        assertTrue(first.mayGo());
        assertTrue(second.mayGo());
        assertFalse(other.mayGo());
        first.leave();
        second.leave();
        assertTrue(other.mayGo());
    }
}

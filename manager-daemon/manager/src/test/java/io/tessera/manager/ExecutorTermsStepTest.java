package io.tessera.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.memory.InMemoryClient;
import io.tessera.manager.memory.SteppedManager;
import io.tessera.policy.TenantClass;
import io.tessera.policy.TenantTerms;
import io.tessera.policy.TermsText;
import io.tessera.protocol.message.TenantName;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Executors learn what is set for their tenants and devices, step by step. */
@Timeout(180)
class ExecutorTermsStepTest extends ExecutorSteps {
    private static final String TEAM = TenantName.of("team", 500, 0);
    private static final String ROUND = "\"policy\":\"round-robin\",\"use\":\"auto\",\"now\":false";
    private static final TenantTerms INTERACTIVE = TenantTerms.DEFAULT.withClass(TenantClass.INTERACTIVE);

    private String say(String request) throws Exception {
        InMemoryClient control = stepped.control(0).sendRaw((request + "\n").getBytes());
        stepped.step();
        return control.heardText();
    }

    private String set(String what) throws Exception {
        return say("{\"request\":\"tenant\",\"tenant\":\"" + TEAM + "\"," + what + "}");
    }

    private void believes(String terms, String turns) throws Exception {
        executor(0).told.clear();
        executor(0).says("{\"stats\":{\"clients\":[{\"client\":1,\"uid\":500,\"tenant\":\"team\",\"usedBytes\":0,\"terms\":\"" + terms
                + "\"}],\"turns\":{" + turns + "}}}");
        stepped.step();
    }

    private List<String> told() {
        return executor(0).told.stream().map(Object::toString).toList();
    }

    private static String terms(TenantTerms terms) {
        return "{\"terms\":{\"tenant\":\"" + TEAM + "\",\"terms\":\"" + TermsText.of(terms) + "\"}}";
    }

    /** An executor's wrong settings are corrected: orders while a program runs, and those of a former manager. */
    @Test
    void executorsLearnWhatIsSetForTenants() throws Exception {
        stepped = new SteppedManager();
        set("\"ahead\":true,\"set\":{\"class\":\"interactive\"}");
        asking(42);
        executor(0).ready(1);
        stepped.step();
        assertEquals(terms(INTERACTIVE), executor(0).told.getFirst().toString(), "before its client is announced");
        believes(TermsText.of(INTERACTIVE), ROUND);
        assertEquals(List.of(), told());
        believes(TermsText.of(TenantTerms.DEFAULT), ROUND);
        assertEquals(List.of(terms(INTERACTIVE)), told());
        executor(0).told.clear();
        String answer = set("\"set\":{\"weight\":3,\"hardCap\":0.5}");
        assertTrue(answer.contains("\"policies\":[\"round-robin\"],\"unused\":[]"), answer);
        assertEquals(List.of(terms(INTERACTIVE.withWeight(3).withHardCap(0.5))), told(), "a running tenant needs no --ahead, and its class counts");
        believes(TermsText.of(INTERACTIVE), ROUND);
        assertTrue(say("{\"request\":\"status\"}").contains("\"terms\":{\"weight\":1,"), "as its executor last said");
        answer = set("\"set\":{\"priority\":2}");
        assertTrue(answer.contains("\"unused\":[\"priority\"]"), answer);
    }

    /** Executors look at it without turns, so it holds also where there are none. */
    @Test
    void executorsLearnWhichTenantsAreReplayable() throws Exception {
        stepped = new SteppedManager();
        set("\"ahead\":true,\"set\":{\"replayable\":true}");
        asking(42);
        executor(0).ready(1);
        stepped.step();
        TenantTerms replayable = TenantTerms.DEFAULT.withReplayable(true);
        assertEquals(terms(replayable), executor(0).told.getFirst().toString(), "before its client is announced");
        say("{\"request\":\"scheduler\",\"mode\":\"off\"}");
        String answer = set("\"own\":false");
        assertTrue(answer.contains("\"replayable\":true") && answer.contains("\"unused\":[]") && !answer.contains("notKept"), answer);
        believes(TermsText.of(replayable), ROUND.replace("auto", "off"));
        assertTrue(say("{\"request\":\"status\"}").contains("\"replayable\":true"), "as its executor last said");
        set("\"set\":{\"replayable\":false}");
        assertTrue(told().contains(terms(TenantTerms.DEFAULT)), () -> told().toString());
    }

    @Test
    void executorsLearnHowTheirDevicesAreShared() throws Exception {
        stepped = new SteppedManager();
        asking(42);
        executor(0).ready(1);
        stepped.step();
        believes(TermsText.of(TenantTerms.DEFAULT), ROUND);
        say("{\"request\":\"policy\",\"policy\":\"fair\"}");
        say("{\"request\":\"scheduler\",\"mode\":\"off\"}");
        assertEquals(List.of("{\"turns\":{\"policy\":\"fair\",\"use\":\"auto\"}}", "{\"turns\":{\"policy\":\"fair\",\"use\":\"off\"}}"), told());
        believes(TermsText.of(TenantTerms.DEFAULT), ROUND);
        assertEquals(List.of("{\"turns\":{\"policy\":\"fair\",\"use\":\"off\"}}"), told(), "it believes something else");
        String answer = set("\"set\":{\"weight\":3}");
        assertTrue(answer.contains("\"policies\":[\"fair\"]"), answer);
        assertTrue(answer.contains("set to off; shares and caps do not hold"), answer);
        assertFalse(set("\"reset\":true").contains("notKept"));
    }

    @Test
    void whatHoldsWhileATenantRunsIsForgottenWithItsLastProgramInAnExecutor() throws Exception {
        stepped = new SteppedManager();
        set("\"ahead\":true,\"whileItRuns\":true,\"set\":{\"weight\":3}");
        InMemoryClient program = asking(42);
        executor(0).ready(1);
        stepped.step();
        assertTrue(set("\"own\":false").contains("\"weight\":3"));
        program.die();
        stepped.step();
        stepped.clock.advanceMs(10_000);
        stepped.step();
        assertTrue(set("\"own\":false").contains("\"weight\":1"));
    }

    @Test
    void whatLastsHoldsAgainAfterWhatHeldWhileTheTenantRan() throws Exception {
        stepped = new SteppedManager();
        set("\"ahead\":true,\"set\":{\"weight\":3,\"clients\":4}");
        set("\"ahead\":true,\"whileItRuns\":true,\"set\":{\"weight\":5,\"clients\":6}");
        InMemoryClient program = asking(42);
        executor(0).ready(1);
        stepped.step();
        String meanwhile = set("\"own\":false");
        assertTrue(meanwhile.contains("\"weight\":5") && meanwhile.contains("\"clients\":6"), meanwhile);
        program.die();
        stepped.step();
        stepped.clock.advanceMs(10_000);
        stepped.step();
        String afterwards = set("\"own\":false");
        assertTrue(afterwards.contains("\"weight\":3") && afterwards.contains("\"clients\":4"), afterwards);
    }
}

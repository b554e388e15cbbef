package io.tessera.system.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.tessera.system.Await;
import io.tessera.system.ControlSocket;
import io.tessera.system.ManagerProcess;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.SeededRandom;
import io.tessera.system.TestRun;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Managers that are killed while orders are sent: every order that was acknowledged holds under the next one. */
@ExtendWith(RunWatcher.class)
class OrdersOutliveManagersTest {
    private static final int KILLS = Integer.getInteger("tessera.test.kills", 6);
    private static final int TENANTS = 20;
    private static final String[] POLICIES = {"fair", "credit", "priority", "round-robin"};
    private static final String LIMITED = "limited";

    /** Sends orders until the manager is gone, and records which were acknowledged. */
    private static final class Operator extends Thread {
        final Map<String, JsonObject> terms;
        String policy;
        long limitBytes;
        /** The order that was not answered: it may be in effect or not. */
        String unanswered = "";
        int orders;
        private final SeededRandom random;
        private final ControlSocket control;

        Operator(Operator before, ControlSocket control, SeededRandom random) {
            this.terms = before == null ? new HashMap<>() : before.terms;
            this.policy = before == null ? "" : before.policy;
            this.limitBytes = before == null ? 0 : before.limitBytes;
            this.control = control;
            this.random = random;
        }

        @Override
        public void run() {
            try {
                for (;;) {
                    order(random.below(10));
                    orders++;
                }
            } catch (UncheckedIOException | NoAnswer e) {
                // the manager is gone
            }
        }

        private void order(int kind) {
            if (kind == 0) {
                String next = POLICIES[random.below(POLICIES.length)];
                say("policy", "{\"request\":\"policy\",\"policy\":\"" + next + "\"}");
                policy = next;
            } else if (kind == 1) {
                long next = (1L + random.below(1_000)) << 20;
                say("limit", "{\"request\":\"limit\",\"ahead\":true,\"tenant\":\"" + LIMITED + "\",\"bytes\":" + next + "}");
                limitBytes = next;
            } else {
                String tenant = "tenant-" + random.below(TENANTS);
                JsonObject answer = say(tenant, "{\"request\":\"tenant\",\"ahead\":true,\"tenant\":\"" + tenant + "\",\"set\":{\"weight\":"
                        + (1 + random.below(900)) + ",\"priority\":" + random.below(9) + ",\"hardCap\":0." + (1 + random.below(9))
                        + ",\"softCap\":0.5,\"replayable\":" + (random.below(2) == 0) + "}}");
                terms.put(tenant, answer.getAsJsonObject("terms"));
            }
        }

        private JsonObject say(String about, String request) {
            unanswered = about;
            JsonObject answer = answer(request);
            assertTrue(answer.get("ok").getAsBoolean() && !answer.has("notKept"), answer::toString);
            unanswered = "";
            return answer;
        }

        private JsonObject answer(String request) {
            try {
                return control.request(request);
            } catch (AssertionError e) {
                throw new NoAnswer(e);
            }
        }
    }

    private static final class NoAnswer extends RuntimeException {
        private static final long serialVersionUID = 1L;

        NoAnswer(AssertionError cause) {
            super(cause);
        }
    }

    private static ManagerProcess start(TestRun run, Path settings) {
        return run.manager("--executors", "nvidia", "--mode", "on", "--settings", settings.toString());
    }

    private static long quota(ManagerProcess manager) {
        JsonObject executor = manager.control().status().getAsJsonArray("executors").get(0).getAsJsonObject();
        return executor.has("windows") ? executor.getAsJsonArray("windows").asList().stream().map(window -> window.getAsJsonObject())
                .filter(window -> window.get("tenant").getAsString().equals(LIMITED)).mapToLong(window -> window.get("quotaBytes").getAsLong())
                .findFirst().orElse(-1) : -1;
    }

    private static JsonObject terms(ManagerProcess manager, String tenant) {
        return manager.control().okay("{\"request\":\"tenant\",\"tenant\":\"" + tenant + "\"}").getAsJsonObject("terms");
    }

    private static String policy(TestRun run, ManagerProcess manager) {
        RunningProgram program = run.program("console").start();
        program.openDevice();
        String policy = manager.control().device(0).get("policy").getAsString();
        program.quit().exits(0);
        return policy;
    }

    @Test
    void everyAcknowledgedOrderHoldsAfterAKill(TestRun run) throws Exception {
        SeededRandom random = new SeededRandom("everyAcknowledgedOrderHoldsAfterAKill");
        run.expectLine("this program continues in its executor");
        run.expectClientError("manager");
        Path settings = settings(run);
        ManagerProcess manager = start(run, settings);
        RunningProgram limited = run.program("relay_worker", "copies", "1", "0").env("TESSERA_SHARE", "space").env("RELAY_WORKER_PAUSE_US", "20000")
                .tenant(LIMITED).start().awaitLine("ready");
        Operator operator = null;
        int orders = 0;
        for (int kill = 0; kill < KILLS; kill++) {
            operator = new Operator(operator, manager.control(), new SeededRandom("orders " + kill));
            operator.start();
            Await.sleep(Duration.ofMillis(300 + random.below(500)));
            manager.kill();
            operator.join(Await.PATIENCE.toMillis());
            assertTrue(!operator.isAlive(), "the operator waits for an answer of a manager that is gone");
            orders += operator.orders;
            manager = start(run, settings);
            holds(run, manager, operator, "kill " + kill + ", seed " + random.seed());
        }
        System.out.println(orders + " orders were acknowledged, " + KILLS + " managers killed");
        assertTrue(orders > KILLS, orders + " orders");
        limited.tell("");
        limited.end(Await.PATIENCE).exits(0);
    }

    /** Returns a settings file that contradicts the orders of commands. */
    private static Path settings(TestRun run) throws IOException {
        Path settings = Files.writeString(run.directory().resolve("tessera.toml"), "policy = \"elastic\"\n[tenant.tenant-1]\nweight = 901\n[tenant."
                + LIMITED + "]\nmemory = \"2GiB\"\n");
        return Files.setPosixFilePermissions(settings, PosixFilePermissions.fromString("rw-r--r--"));
    }

    private static void holds(TestRun run, ManagerProcess manager, Operator operator, String when) {
        String open = operator.unanswered;
        operator.terms.replaceAll((tenant, acknowledged) -> {
            JsonObject terms = terms(manager, tenant);
            if (!tenant.equals(open)) {
                assertEquals(acknowledged, terms, () -> tenant + ", " + when);
            }
            return terms;
        });
        if (!operator.policy.isEmpty()) {
            String policy = policy(run, manager);
            if (!open.equals("policy")) {
                assertEquals(operator.policy, policy, when);
            }
            operator.policy = policy;
        }
        if (operator.limitBytes > 0 && !open.equals("limit")) {
            Await.until("the limit holds, " + when, Await.PATIENCE, () -> manager.control().status().has("executors")
                    && quota(manager) == operator.limitBytes, () -> operator.limitBytes + ": " + manager.control().status());
        }
    }
}

package io.tessera.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.tessera.manager.executors.ExecutorKind;
import io.tessera.manager.executors.SoftwareDevices;
import io.tessera.manager.memory.InMemoryClient;
import io.tessera.manager.memory.SteppedManager;
import io.tessera.manager.placement.DevicePlacement;
import io.tessera.os.LinuxException;
import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.segment.SubmissionKind;
import io.tessera.protocol.segment.ThreadSlot;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Programs ask for a device before they start, step by step, over the control socket. */
@Timeout(180)
class PlacementStepTest extends ExecutorSteps {
    private static final DeviceUuid OTHER = new DeviceUuid(7, 7);
    private static final String BOTH = "[{\"uuid\":\"" + SteppedManager.GPU + "\",\"totalBytes\":68719476736},{\"uuid\":\"" + OTHER
            + "\",\"totalBytes\":68719476736}]";

    private InMemoryClient control;

    private void start(DevicePlacement rule) throws Exception {
        stepped = new SteppedManager(0, context -> context.withPlacement(rule).withExecutors(ExecutorKind.SOFTWARE, new SoftwareDevices(2, 0)));
        control = stepped.control(0);
    }

    private String say(String text) throws Exception {
        control.sendRaw((text + "\n").getBytes(StandardCharsets.UTF_8));
        stepped.step();
        return control.heardText();
    }

    private JsonObject ask(String text) throws Exception {
        return JsonParser.parseString(say(text)).getAsJsonObject();
    }

    private JsonObject wish(int pid, String tenant, String more) throws Exception {
        return ask("{\"request\":\"admission\",\"tenant\":\"" + tenant + "\",\"pid\":" + pid + ",\"startTicks\":4711" + more + "}");
    }

    private String device(int pid, String tenant, String more) throws Exception {
        JsonObject answer = wish(pid, tenant, ",\"devices\":" + BOTH + more);
        assertTrue(answer.get("admitted").getAsBoolean(), answer::toString);
        return answer.getAsJsonObject("placement").get("device").getAsString();
    }

    @Test
    void theAnswerNamesADeviceAndTheStatusWhy() throws Exception {
        start(DevicePlacement.SPREAD);
        stepped.client(1);
        assertEquals("{\"ok\":true,\"admitted\":true,\"place\":0,\"waiting\":0,\"reason\":\"\",\"placement\":{\"device\":\"" + OTHER
                + "\",\"rule\":\"spread\",\"reason\":\"of 2 devices with 8.0 GiB free it has the fewest clients: 0, and 64.0 GiB free\"}}\n",
                say("{\"request\":\"admission\",\"tenant\":\"later\",\"pid\":44,\"startTicks\":4711,\"limitBytes\":8589934592,\"devices\":" + BOTH
                        + "}"));
        JsonObject waiting = ask("{\"request\":\"status\"}").getAsJsonArray("waiting").get(0).getAsJsonObject();
        assertEquals(OTHER.toString(), waiting.getAsJsonObject("placement").get("device").getAsString());
        InMemoryClient client = stepped.connect(44, 0).hello("later", 8L << 30);
        stepped.step();
        JsonObject status = ask("{\"request\":\"status\"}");
        assertEquals("spread", status.getAsJsonObject("manager").get("placement").getAsString());
        assertEquals("{\"device\":\"" + OTHER + "\",\"rule\":\"spread\",\"reason\":\"of 2 devices with 8.0 GiB free it has the fewest clients: 0,"
                + " and 64.0 GiB free\"}", status.getAsJsonArray("clients").get(1).getAsJsonObject().get("placement").toString());
        assertFalse(status.has("waiting"));
        assertFalse(client.isClosedByManager());
    }

    /** A limit counts as taken, whether its client uses it or not. */
    @Test
    void memoryOfClientsAndOfKeptPlacesIsTaken() throws Exception {
        start(DevicePlacement.PACK);
        stepped.client(1, "team", 40L << 30);
        assertEquals(OTHER.toString(), device(10, "a", ",\"limitBytes\":" + (30L << 30)));
        assertEquals(SteppedManager.GPU.toString(), device(11, "b", ",\"limitBytes\":" + (20L << 30)));
        assertEquals(OTHER.toString(), device(12, "c", ",\"limitBytes\":" + (20L << 30)));
    }

    @Test
    void aClientThatHasComeIsCountedOnce() throws Exception {
        start(DevicePlacement.SPREAD);
        assertEquals(SteppedManager.GPU.toString(), device(10, "a", ""));
        InMemoryClient first = stepped.connect(10, 0).hello("a", 0);
        stepped.step();
        assertEquals(OTHER.toString(), device(11, "b", ""), "the first has registered and is on no device yet");
        first.device(0, SteppedManager.GPU);
        stepped.step();
        stepped.connect(11, 0).hello("b", 0).device(0, OTHER);
        stepped.step();
        assertEquals(SteppedManager.GPU.toString(), device(12, "c", ""));
        assertEquals(OTHER.toString(), device(13, "d", ""));
    }

    @Test
    void clientsOfExecutorsCount() throws Exception {
        start(DevicePlacement.SPREAD);
        asking(42);
        executor(0).ready(2);
        stepped.step();
        executor(1).ready(2);
        executor(0).says("{\"stats\":{\"clients\":[{\"client\":1,\"pid\":42,\"uid\":500,\"tenant\":\"team\",\"usedBytes\":100,\"heldNs\":0}],"
                + "\"windows\":[{\"tenant\":\"team\",\"committedBytes\":100,\"sinkBytes\":0,\"quotaBytes\":1000}]}}");
        stepped.step();
        JsonObject devices = ask("{\"request\":\"devices\"}");
        assertEquals("{\"ok\":true,\"settled\":true,\"software\":true,\"devices\":[{\"uuid\":\"GPU-00000000-0000-0000-0000-000000000000\","
                + "\"totalBytes\":1024},{\"uuid\":\"GPU-00000000-0000-0000-0000-000000000001\",\"totalBytes\":1024}],\"reason\":\"\"}",
                devices.toString());
        JsonObject placement = wish(50, "a", ",\"limitBytes\":100,\"devices\":" + devices.get("devices")).getAsJsonObject("placement");
        assertEquals("GPU-00000000-0000-0000-0000-000000000001", placement.get("device").getAsString());
        assertEquals("it alone of 2 devices has 100 bytes free: 1024 bytes, and 0 clients", placement.get("reason").getAsString());
    }

    @Test
    void whoAsksForDevicesHasExecutorsStarted() throws Exception {
        start(DevicePlacement.NONE);
        assertFalse(ask("{\"request\":\"devices\"}").get("settled").getAsBoolean());
        executor(0).ready(2);
        stepped.step();
        assertFalse(ask("{\"request\":\"devices\"}").get("settled").getAsBoolean());
        executor(1).ready(2);
        stepped.step();
        assertTrue(ask("{\"request\":\"devices\"}").get("settled").getAsBoolean());
        assertEquals(2, stepped.launcher.started.size());
        stepped.close();
        stepped = new SteppedManager(0, context -> context.withExecutors(ExecutorKind.NONE, SoftwareDevices.STANDARD));
        control = stepped.control(500);
        assertEquals("{\"ok\":true,\"settled\":true,\"software\":false,\"devices\":[],\"reason\":\"this manager starts no executors"
                + " (--executors none)\"}\n", say("{\"request\":\"devices\"}"));
    }

    @Test
    void theLeastLoadedDeviceIsTheOneWhoseClientsWorkLess() throws Exception {
        start(DevicePlacement.LEAST_LOADED);
        InMemoryClient busy = stepped.client(1);
        stepped.connect(2, 500).hello("idle", 0).device(0, OTHER);
        stepped.connect(3, 500).hello("idle", 0).device(0, OTHER);
        stepped.step();
        for (int second = 0; second < 20; second++) {
            stepped.stepAfterMs(1_000);
            ThreadSlot.of(busy.segment(), 0).add(SubmissionKind.LAUNCH, 0, 1);
        }
        control = stepped.control(0); // the other connection was silent for too long
        assertEquals(OTHER.toString(), device(10, "a", ""));
        String reason = ask("{\"request\":\"status\"}").getAsJsonArray("waiting").get(0).getAsJsonObject().getAsJsonObject("placement").get("reason")
                .getAsString();
        assertEquals("of 2 devices with an eighth of its memory free it used the least GPU time lately: 0%, and has 2 clients", reason);
    }

    @Test
    void theSignIsThereWhileProgramsArePlaced() throws Exception {
        start(DevicePlacement.PACK);
        assertEquals("pack\n", stepped.file("placement"));
        stepped.close();
        assertThrows(LinuxException.class, () -> stepped.file("placement"));
        start(DevicePlacement.NONE);
        assertThrows(LinuxException.class, () -> stepped.file("placement"));
    }

    @Test
    void wrongDevicesAreRefused() throws Exception {
        start(DevicePlacement.NONE);
        for (String devices : List.of("[]", "3", "[3]", "[{}]", "[{\"uuid\":\"GPU-1\",\"totalBytes\":1}]",
                "[{\"uuid\":\"" + OTHER + "\"}]", "[{\"uuid\":\"" + OTHER + "\",\"totalBytes\":0}]",
                "[{\"uuid\":\"" + OTHER + "\",\"totalBytes\":1e300}]")) {
            assertFalse(wish(10, "a", ",\"devices\":" + devices).get("ok").getAsBoolean(), devices);
        }
        assertFalse(wish(10, "a", ",\"limitBytes\":-1").get("ok").getAsBoolean());
        assertFalse(wish(10, "a", "").has("placement"), "it has left no device to the manager");
    }

    @Test
    void aTenantOfOneClientByCommand() throws Exception {
        start(DevicePlacement.NONE);
        String terms = ask("{\"request\":\"tenant\",\"tenant\":\"team of user 500\",\"ahead\":true,\"set\":{\"clients\":1}}").get("terms").toString();
        assertTrue(terms.endsWith(",\"clients\":1}"), terms);
        stepped.client(1);
        InMemoryClient second = stepped.connect(2, 500).hello("team", 0);
        stepped.step();
        assertEquals(List.of("refused 5: tenant \"team\" has as many clients at once as it may have: 1 (clients in tessera.toml, or tessera tenant);"
                + " tessera run --wait waits for a place", "closed"), second.heard());
        for (String wrong : List.of("-1", "1.5", "\"x\"", "1000001")) {
            assertFalse(ask("{\"request\":\"tenant\",\"tenant\":\"team of user 500\",\"set\":{\"clients\":" + wrong + "}}").get("ok").getAsBoolean());
        }
        assertFalse(ask("{\"request\":\"tenant\",\"tenant\":\"team of user 500\",\"reset\":true}").get("terms").toString().contains("clients"));
        InMemoryClient third = stepped.connect(3, 500).hello("team", 0);
        stepped.step();
        assertEquals(List.of("welcome 2"), third.heard());
    }
}

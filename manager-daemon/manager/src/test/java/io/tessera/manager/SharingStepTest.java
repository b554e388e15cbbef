package io.tessera.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonParser;
import io.tessera.manager.memory.InMemoryClient;
import io.tessera.manager.memory.SteppedManager;
import io.tessera.manager.settings.OptionException;
import io.tessera.protocol.MemoryPlan;
import io.tessera.protocol.message.Hello;
import io.tessera.protocol.message.MessageEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Programs that leave their way of sharing to the manager ask for it before they register, step by step. */
@Timeout(180)
class SharingStepTest extends ExecutorSteps {
    private String told(int pid, int uid) throws Exception {
        InMemoryClient peer = stepped.connect(pid, uid).send(p -> MessageEncoder.sharingAsk(p, "team"));
        stepped.step();
        List<String> heard = peer.heard();
        assertEquals(2, heard.size(), heard::toString);
        assertEquals("closed", heard.get(1));
        return heard.getFirst();
    }

    @Test
    void underAManagerThatPrefersTimeAllShareByTime() throws Exception {
        stepped = new SteppedManager();
        asking(42);
        assertEquals("sharing by time: the manager prefers time (--prefer time)", told(43, 500));
    }

    @Test
    void underOneThatPrefersSpaceTheyShareBySpaceWithProgramsOfTheirUser() throws Exception {
        stepped = preferringSpace();
        assertEquals("sharing by space: the manager prefers space (--prefer space)", told(41, 500));
        asking(42);
        assertTrue(told(43, 500).startsWith("sharing by space"));
        assertTrue(told(44, 501).startsWith("sharing by time: programs of another user"));
    }

    @Test
    void besideProgramsWithContextsOfTheirOwnItGetsOne() throws Exception {
        stepped = preferringSpace();
        InMemoryClient first = stepped.connect(42, 500)
                .send(p -> MessageEncoder.hello(p, new Hello(42, MemoryPlan.PLAIN, 5, 0, "team", "train.py")));
        stepped.step();
        assertTrue(told(43, 500).startsWith("sharing by space"), "the first has no device yet");
        first.device(0, SteppedManager.GPU);
        stepped.step();
        assertTrue(told(44, 500).startsWith("sharing by time: a program shares by time"));
    }

    /** The program did not wait for the answer, or got none. */
    @Test
    void anAnswerThatCameTooLateIsNotTheReason() throws Exception {
        stepped = preferringSpace();
        told(42, 500);
        assertEquals("the manager's answer came too late, so it shares by time", sharing(42, MemoryPlan.PLAIN));
        told(43, 500);
        assertTrue(sharing(43, MemoryPlan.RELAY).startsWith("the manager prefers space"));
    }

    private static SteppedManager preferringSpace() throws Exception {
        return new SteppedManager(0, context -> {
            try {
                return ManagerContext.parse(List.of("--prefer", "space"), Map.of("TESSERA_RUNTIME_DIR", context.directory().path().toString(),
                        "TESSERA_SHM_DIR", context.directory().shmDirectory().toString()), 0);
            } catch (OptionException e) {
                throw new AssertionError(e);
            }
        });
    }

    /** Returns the reason in the status of a process that registers now. */
    private String sharing(int pid, MemoryPlan plan) throws Exception {
        stepped.connect(pid, 500).send(p -> MessageEncoder.hello(p, new Hello(pid, plan, 5, 0, "team", "train.py")));
        stepped.step();
        InMemoryClient control = stepped.control(0).sendRaw("{\"request\":\"status\"}\n".getBytes(StandardCharsets.UTF_8));
        stepped.step();
        JsonArray clients = JsonParser.parseString(control.heardText()).getAsJsonObject().getAsJsonArray("clients");
        return clients.get(clients.size() - 1).getAsJsonObject().get("sharing").getAsString();
    }

    @Test
    void theReasonStandsInTheStatusOfTheProcessThatAsked() throws Exception {
        stepped = new SteppedManager();
        told(42, 500);
        stepped.connect(42, 500).send(p -> MessageEncoder.hello(p, new Hello(42, MemoryPlan.PLAIN, 5, 0, "team", "train.py")));
        stepped.connect(43, 500).send(p -> MessageEncoder.hello(p, new Hello(43, MemoryPlan.PLAIN, 5, 0, "team", "train.py")));
        stepped.step();
        InMemoryClient control = stepped.control(0).sendRaw("{\"request\":\"status\"}\n".getBytes(StandardCharsets.UTF_8));
        stepped.step();
        JsonArray clients = JsonParser.parseString(control.heardText()).getAsJsonObject().getAsJsonArray("clients");
        assertTrue(clients.get(0).getAsJsonObject().get("sharing").getAsString().startsWith("the manager prefers time"));
        assertTrue(!clients.get(1).getAsJsonObject().has("sharing"), "it did not ask");
    }

    @Test
    void askingIsNotRegistering() throws Exception {
        stepped = new SteppedManager();
        InMemoryClient peer = stepped.connect(42, 500).send(p -> MessageEncoder.hello(p, new Hello(42, MemoryPlan.PLAIN, 5, 0, "team", "train.py")));
        stepped.step();
        peer.heard();
        peer.send(p -> MessageEncoder.sharingAsk(p, "team"));
        stepped.step();
        assertTrue(peer.heard().getFirst().startsWith("refused 2"), "it has introduced itself already");
    }
}

package io.tessera.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.admission.AdmissionRoom;
import io.tessera.manager.admission.AwaitedClients;
import io.tessera.manager.memory.InMemoryClient;
import io.tessera.manager.memory.MemoryLinux;
import io.tessera.manager.memory.SteppedManager;
import io.tessera.manager.session.ClientJournal;
import io.tessera.os.Errno;
import io.tessera.os.FilePort;
import io.tessera.os.LinuxException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients keep their places beyond the end of a manager: their identity is in the file {@code clients} of the runtime directory. */
@Timeout(60)
class ClientPlacesStepTest {
    private final MemoryLinux linux = new MemoryLinux(0);
    private SteppedManager stepped;

    @AfterEach
    void end() {
        stepped.close();
    }

    /** Starts a manager for one client after a manager that had the client of process 42. */
    private void startAfterOneWithAClient(String clients) throws Exception {
        linux.files.makeDirectory(SteppedManager.DIRECTORY.path(), 0711);
        int descriptor = linux.files.open(SteppedManager.DIRECTORY.path().resolve("clients"), FilePort.Open.CREATE_NEW, 0600);
        linux.files.write(descriptor, clients.getBytes(StandardCharsets.UTF_8));
        linux.files.close(descriptor);
        stepped = new SteppedManager(linux, context -> context.withMaxClients(1));
    }

    private String answer(int pid) throws Exception {
        InMemoryClient client = stepped.connect(pid, 500).hello("team", 0);
        stepped.step();
        return client.heard().getFirst();
    }

    private void noFile() {
        assertEquals(Errno.ENOENT, assertThrows(LinuxException.class, () -> stepped.file("clients")).errno());
    }

    @Test
    void nobodyTakesThePlaceOfAClientThatReturns() throws Exception {
        startAfterOneWithAClient("42 4711 500 team\n");
        assertTrue(answer(43).startsWith("refused 5: as many clients as this manager admits are there already: 1"));
        assertEquals("42 4711 500 team\n", stepped.file("clients"), "it is still awaited, if this manager is killed, too");
        assertEquals("welcome 1", answer(42));
    }

    @Test
    void aPlaceIsFreeWhenItsClientDoesNotReturn() throws Exception {
        startAfterOneWithAClient("42 4711 500 team\n");
        stepped.stepAfterMs(4_999);
        assertTrue(answer(43).startsWith("refused 5"));
        stepped.stepAfterMs(1);
        noFile();
        assertEquals("welcome 1", answer(43));
    }

    @Test
    void anotherProcessWithTheNumberHasNoPlace() throws Exception {
        startAfterOneWithAClient("42 4710 500 team\nno client\n");
        assertEquals("welcome 1", answer(43));
    }

    /** A label cannot break its line, whatever it contains. */
    @Test
    void theFileSaysOfWhichTenantEachIs() throws Exception {
        stepped = new SteppedManager(linux, context -> context);
        stepped.connect(42, 500).hello("b\u00e4ume 2", 0);
        stepped.connect(43, 0).hello("three\nlines\u2028", 0);
        stepped.step();
        assertEquals(List.of(new AwaitedClients.Former(42, 5, new AdmissionRoom.Owner(500, "b\u00e4ume 2")),
                new AwaitedClients.Former(43, 5, new AdmissionRoom.Owner(0, "three?lines?"))),
                ClientJournal.read(linux.files, SteppedManager.DIRECTORY.path()));
    }

    /** A file that cannot be written neither ends the manager nor leads to refusals. */
    @Test
    void theFileSaysWhoIsThere() throws Exception {
        stepped = new SteppedManager(linux, context -> context);
        noFile();
        InMemoryClient first = stepped.client(42);
        InMemoryClient second = stepped.client(43);
        String one = stepped.file("clients").lines().findFirst().orElseThrow();
        assertTrue(one.matches("42 \\d+ 500 team"), one);
        assertEquals(2, stepped.file("clients").lines().count());
        first.die();
        stepped.step();
        assertEquals(List.of("43"), stepped.file("clients").lines().map(line -> line.split(" ")[0]).toList());
        linux.files.writeErrno = Errno.ENOSPC;
        stepped.client(44);
        linux.files.writeErrno = 0;
        second.die();
        stepped.step();
        assertEquals(List.of("44"), stepped.file("clients").lines().map(line -> line.split(" ")[0]).toList());
        stepped.close();
        assertEquals(1, stepped.file("clients").lines().count(), "the next manager is to know it, also after one that ended in order");
    }
}

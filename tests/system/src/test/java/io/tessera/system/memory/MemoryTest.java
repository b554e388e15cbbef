package io.tessera.system.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.ProgramLaunch;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.SeededRandom;
import io.tessera.system.TestRun;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory under every plan: contents, attributes, order, frees; limits of one client and of a tenant. */
@ExtendWith(RunWatcher.class)
class MemoryTest {
    private static final long MIB = 1L << 20;

    @ParameterizedTest
    @CsvSource({"plain, 0", "managed, 0", "swap, 0", "plain, 256", "managed, 256", "swap, 256"})
    void everyPathKeepsContentsAndAttributes(String plan, long limitMib, TestRun run) {
        run.sharedManager("--capacity", "1GiB");
        ProgramLaunch program = run.program("memory").plan(plan);
        if (limitMib > 0) {
            program.memory(limitMib * MIB);
        }
        program.run().exits(0).says("done");
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain", "managed", "swap"})
    void everyPathWorksWithoutAManager(String plan, TestRun run) {
        run.expectLine("no manager");
        run.program("memory").plan(plan).run().exits(0).says("done");
    }

    @Test
    void managedMemoryMayExceedTheDevice(TestRun run) {
        ManagerProcess manager = run.manager();
        RunningProgram program = run.program("console").plan("managed").script("memory 64MiB").start();
        program.openDevice();
        for (int i = 0; i < 4; i++) {
            assertEquals(Integer.toString(i), program.okay("alloc " + 48 * MIB));
            program.okay("fill " + i + " " + (i + 1));
        }
        for (int i = 0; i < 4; i++) {
            program.okay("check " + i + " " + (i + 1));
        }
        JsonObject device = manager.control().clientDevice(program.pid());
        assertEquals(192 * MIB, device.get("usedBytes").getAsLong(), device::toString);
        assertEquals(192 * MIB, device.get("managedBytes").getAsLong(), device::toString);
        program.quit().exits(0);
    }

    @Test
    void plainMemoryDoesNotExceedTheDevice(TestRun run) {
        run.manager();
        RunningProgram program = run.program("console").script("memory 64MiB").start();
        program.openDevice();
        program.okay("alloc " + 48 * MIB);
        program.awaitAnswer("alloc " + 48 * MIB, "error 2");
        program.quit().exits(0);
    }

    @ParameterizedTest
    @CsvSource({"plain, alloc", "managed, alloc", "plain, async", "managed, async", "plain, managed", "plain, create",
            "managed, create", "plain, array", "swap, alloc", "swap, async", "swap, create", "swap, array"})
    void limitIsExactAndShown(String plan, String path, TestRun run) {
        ManagerProcess manager = run.sharedManager();
        RunningProgram program = run.program("console").plan(plan).memory(100 * MIB).start();
        program.openDevice();
        assertEquals(Long.toString(100 * MIB), program.okay("total 0"));
        assertEquals(100 * MIB + " " + 100 * MIB, program.okay("info"));
        for (int i = 0; i < 10; i++) {
            assertEquals(Integer.toString(i), program.okay(path + " " + 10 * MIB));
        }
        assertEquals("0 " + 100 * MIB, program.okay("info"));
        program.awaitAnswer(path + " " + 2 * MIB, "error 2");
        program.okay("free 3");
        assertEquals(10 * MIB + " " + 100 * MIB, program.okay("info"));
        program.awaitAnswer(path + " " + 12 * MIB, "error 2");
        program.okay(path + " " + 10 * MIB);
        JsonObject client = manager.control().client(program.pid());
        assertTrue(client.toString().contains("\"usedBytes\":" + 100 * MIB), client::toString);
        program.quit().exits(0);
    }

    /** Two processes of one tenant share its limit exactly: memory that one frees is available to the other. */
    @Test
    void tenantsProcessesShareTheLimitExactly(TestRun run) {
        run.sharedManager();
        RunningProgram first = tenant(run);
        RunningProgram second = tenant(run);
        first.okay("alloc " + 60 * MIB);
        second.okay("alloc " + 40 * MIB);
        first.awaitAnswer("alloc 4096", "error 2");
        second.awaitAnswer("alloc 4096", "error 2");
        assertEquals("0 " + 100 * MIB, first.okay("info"));
        first.okay("free 0");
        Await.until("what the first freed is the second's", Await.PATIENCE,
                () -> second.ask("alloc " + 60 * MIB).startsWith("ok"));
        first.awaitAnswer("alloc 4096", "error 2");
        second.quit().exits(0);
        Await.until("what the other had is free", Await.PATIENCE,
                () -> first.ask("alloc " + 100 * MIB).startsWith("ok"));
        first.quit().exits(0);
    }

    @Test
    void killedProcessGivesItsShareBack(TestRun run) {
        run.sharedManager();
        RunningProgram first = tenant(run);
        RunningProgram second = tenant(run);
        first.okay("alloc " + 90 * MIB);
        second.awaitAnswer("alloc " + 20 * MIB, "error 2");
        first.kill();
        Await.until("the killed process's share is free", Await.PATIENCE,
                () -> second.ask("alloc " + 100 * MIB).startsWith("ok"));
        second.quit().exits(0);
    }

    /** Many processes of a tenant allocate and free at random; together they never have more than its limit. */
    @Test
    void tenantsLimitHoldsWhileManyProcessesAllocate(TestRun run) {
        SeededRandom random = new SeededRandom("tenantsLimitHoldsWhileManyProcessesAllocate");
        run.sharedManager();
        RunningProgram[] programs = new RunningProgram[4];
        int[] held = new int[programs.length];
        for (int i = 0; i < programs.length; i++) {
            programs[i] = tenant(run);
        }
        int refused = 0;
        for (int step = 0; step < 120; step++) {
            int i = random.below(programs.length);
            if (random.below(3) > 0) {
                String answer = programs[i].ask("alloc " + 10 * MIB);
                if (answer.startsWith("ok")) {
                    held[i] |= 1 << Integer.parseInt(answer.substring(3)) % 31;
                    programs[i].tell("");
                } else {
                    assertEquals("error 2", answer);
                    refused++;
                }
            } else {
                programs[i].ask("free " + random.below(8));
            }
            long sum = 0;
            for (RunningProgram program : programs) {
                sum += run.witness().usedBytes(program.pid(), 0);
            }
            assertTrue(sum <= 100 * MIB, sum + " bytes at step " + step + ", seed " + random.seed());
        }
        assertTrue(refused > 0, "the limit was never reached, seed " + random.seed());
    }

    @Test
    void convertedMemoryCannotBeExportedAndTheLibrarySaysSo(TestRun run) {
        run.expectLine("exports GPU memory");
        run.expectClientError("export|IPC");
        run.sharedManager();
        RunningProgram program = run.program("console").plan("managed").start();
        program.openDevice();
        program.okay("alloc " + MIB);
        program.awaitAnswer("export 0", "error 1");
        assertEquals("1", program.okay("alloc " + MIB)); // under plan plain from now on
        program.okay("export 1");
        ProgramResult result = program.quit().exits(0);
        assertEquals(1, result.libraryLines().size(), result::toString);
        RunningProgram plain = run.program("console").start();
        plain.openDevice();
        plain.okay("alloc " + MIB);
        plain.okay("export 0");
        plain.quit().exits(0);
    }

    private static RunningProgram tenant(TestRun run) {
        RunningProgram program = run.program("console").tenant("together").memory(100 * MIB).start();
        program.openDevice();
        return program;
    }
}

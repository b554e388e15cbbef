package io.tessera.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.testing.BuildOutputs;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A program with a context of its own, on the scripted driver, as a tenant that takes turns: its output is the same. */
@Timeout(300)
class JvmTurnsTest {
    private static World world;
    private static ProcessResult natively;

    @BeforeAll
    static void start() {
        world = new World();
        natively = world.start(java(List.of()), world.scripted()).end();
        world.withManager();
    }

    @AfterAll
    static void end() {
        world.close();
    }

    private static List<String> java(List<String> options) {
        List<String> command = new ArrayList<>(Jvm.newest().command());
        command.addAll(options);
        command.addAll(world.unpacking());
        command.addAll(List.of("-cp", BuildOutputs.samples(), Sample.ASYNC_COPIES.type()));
        return command;
    }

    @ParameterizedTest
    @EnumSource
    void theOutputIsTheSame(TenantStart start) {
        List<String> command = new ArrayList<>();
        Map<String, String> environment = world.scripted();
        if (start != TenantStart.AGENT) {
            command.addAll(List.of(BuildOutputs.tessera().toString(), "run", "--no-manager", "--name", "wrapped", "--"));
        }
        command.addAll(java(start == TenantStart.WRAPPER ? List.of()
                : List.of("-javaagent:" + BuildOutputs.agent() + "=tenant=named,memory=64MiB")));
        ProcessResult ended = world.start(command, environment).end();
        assertEquals(0, natively.exit(), natively::toString);
        assertEquals(0, ended.exit(), ended::toString);
        assertEquals(natively.output(), ended.output(), ended::toString);
        assertEquals(List.of(), ended.errors(), ended::toString);
        // The wrapper was first, so its settings hold.
        String tenant = start == TenantStart.AGENT ? "named" : "wrapped";
        assertTrue(world.managersLog().stream().anyMatch(line -> line.contains(tenant)),
                () -> "no client of " + tenant + " in " + world.managersLog());
    }
}

package io.tessera.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.EvaluationResult;
import io.tessera.agent.boot.violation.KnowsTheTooling;
import io.tessera.cli.violation.AsksTheExecutor;
import io.tessera.demo.violation.DemoKnowsTessera;
import io.tessera.device.violation.KnowsAnAllocator;
import io.tessera.executor.violation.KnowsADevice;
import io.tessera.executor.violation.KnowsCallsByName;
import io.tessera.executor.violation.SleepsByItself;
import io.tessera.executor.wait.BoundedWait;
import io.tessera.guardian.verify.violation.KnowsTheRewriter;
import io.tessera.guardian.violation.KnowsTheDevice;
import io.tessera.manager.schedule.violation.ImpurePolicy;
import io.tessera.manager.violation.AsksTheCommands;
import io.tessera.manager.violation.one.First;
import io.tessera.manager.violation.other.Second;
import io.tessera.manager.violation.util.Meaningless;
import io.tessera.memory.violation.KnowsTheManager;
import io.tessera.policy.violation.PolicyKnowsTheManager;
import io.tessera.protocol.violation.SpeaksJson;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each rule against a class that breaks it and that nothing else uses. */
@Timeout(300)
class RulesSeeViolationsTest {
    private static void sees(ArchRule rule, Class<?>... classes) {
        JavaClasses imported = new ClassFileImporter().importClasses(classes);
        EvaluationResult result = rule.allowEmptyShould(false).evaluate(imported);
        assertTrue(result.hasViolation(), "overlooked: " + rule.getDescription());
    }

    @Test
    void arrows() {
        sees(ArchitectureRules.PROTOCOL_USES_THE_JDK, SpeaksJson.class);
        sees(ArchitectureRules.MEMORY_USES_THE_JDK, KnowsTheManager.class);
        sees(ArchitectureRules.MANAGER_USES_PROTOCOL_AND_MEMORY, AsksTheCommands.class);
        sees(ArchitectureRules.COMMANDS_ASK_THE_MANAGER_OVER_ITS_SOCKET, AsksTheExecutor.class);
        sees(ArchitectureRules.POLICIES_USE_THE_JDK, PolicyKnowsTheManager.class);
        sees(ArchitectureRules.AUTOTALK_USES_THE_JDK, io.tessera.autotalk.violation.AutotalkKnowsTheProtocol.class);
        sees(ArchitectureRules.OS_USES_THE_JDK, io.tessera.os.violation.OsKnowsTheProtocol.class);
    }

    @Test
    void arrowsOfSpaceSharing() {
        sees(ArchitectureRules.EXECUTOR_USES_PROTOCOL_MEMORY_GUARDIAN_AND_THE_PORTS, KnowsADevice.class);
        sees(ArchitectureRules.GUARDIAN_USES_THE_JDK, KnowsTheDevice.class);
        sees(ArchitectureRules.VERIFIER_USES_THE_PARSER, KnowsTheRewriter.class);
        sees(ArchitectureRules.DEVICE_PORT_USES_THE_JDK, KnowsAnAllocator.class);
        sees(ArchitectureRules.NVIDIA_USES_THE_DEVICE_PORT, io.tessera.nvidia.violation.NvidiaKnowsTheProtocol.class);
        sees(ArchitectureRules.SOFTWARE_GPU_USES_THE_DEVICE_PORT_AND_PTX,
                io.tessera.software.violation.SoftwareKnowsTheProtocol.class);
        sees(ArchitectureRules.DEMO_PROGRAMS_ARE_ORDINARY, DemoKnowsTessera.class);
        sees(ArchitectureRules.SAMPLES_ARE_ORDINARY, io.tessera.samples.violation.SampleKnowsTessera.class);
        sees(ArchitectureRules.AGENT_BOOT_USES_THE_JDK, KnowsTheTooling.class);
        sees(ArchitectureRules.AGENT_USES_THE_JDK_BYTE_BUDDY_AND_JNA,
                io.tessera.agent.violation.AgentKnowsTheProtocol.class);
    }

    @Test
    void purityAndTheClock() {
        sees(ArchitectureRules.POLICIES_ARE_PURE, ImpurePolicy.class);
        sees(ArchitectureRules.THE_CLOCK_IS_INJECTED, ImpurePolicy.class);
    }

    @Test
    void waitsAndCallsOfTheExecutor() {
        sees(ArchitectureRules.THE_EXECUTOR_SLEEPS_IN_ONE_PLACE, SleepsByItself.class);
        sees(ArchitectureRules.A_CALL_HAS_ONE_MEANING, KnowsCallsByName.class);
        JavaClasses named = new ClassFileImporter().importClasses(BoundedWait.class, KnowsADevice.class);
        assertTrue(passes(ArchitectureRules.THE_EXECUTOR_SLEEPS_IN_ONE_PLACE, named));
    }

    @Test
    void cycles() {
        sees(ArchitectureRules.NO_CYCLES, First.class, Second.class);
    }

    @Test
    void circlesOfClasses() {
        JavaClasses both = new ClassFileImporter().importClasses(First.class, Second.class);
        assertEquals(List.of(Set.of(First.class.getName(), Second.class.getName())), ClassCircles.of(both));
    }

    @Test
    void names() {
        sees(ArchitectureRules.PACKAGES_HAVE_MEANING, Meaningless.class);
    }

    @Test
    void aRuleThatSeesNoClassFails() {
        JavaClasses none = new ClassFileImporter().importClasses(First.class);
        assertFalse(passes(ArchitectureRules.PROTOCOL_USES_THE_JDK, none));
    }

    private static boolean passes(ArchRule rule, JavaClasses classes) {
        try {
            rule.check(classes);
            return true;
        } catch (AssertionError e) {
            return false;
        }
    }
}

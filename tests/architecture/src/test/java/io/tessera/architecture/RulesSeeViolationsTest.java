package io.tessera.architecture;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.EvaluationResult;
import io.tessera.manager.schedule.violation.ImpurePolicy;
import io.tessera.manager.violation.AsksTheCommands;
import io.tessera.manager.violation.one.First;
import io.tessera.manager.violation.other.Second;
import io.tessera.manager.violation.util.Nothing;
import io.tessera.memory.violation.KnowsTheManager;
import io.tessera.protocol.violation.SpeaksJson;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each rule against a class that breaks it and that nothing else uses. */
@Timeout(120)
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
    }

    @Test
    void purityAndTheClock() {
        sees(ArchitectureRules.POLICIES_ARE_PURE, ImpurePolicy.class);
        sees(ArchitectureRules.THE_CLOCK_IS_INJECTED, ImpurePolicy.class);
    }

    @Test
    void cycles() {
        sees(ArchitectureRules.NO_CYCLES, First.class, Second.class);
    }

    @Test
    void names() {
        sees(ArchitectureRules.PACKAGES_HAVE_MEANING, Nothing.class);
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

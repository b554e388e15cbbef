package io.tessera.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** The rules against every production class of the tree. */
@Timeout(300)
class ArchitectureTest {
    static final List<ArchRule> RULES = ArchitectureRules.ALL;

    /** Far below what each module has, far above what a broken import would see. */
    private static final int CLASSES_AT_LEAST = 5;

    private static JavaClasses classes;

    @BeforeAll
    static void read() {
        classes = new ClassFileImporter().withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .importPackages("io.tessera");
    }

    @ParameterizedTest
    @FieldSource("RULES")
    void holds(ArchRule rule) {
        rule.check(classes);
    }

    @Test
    void noClassesAreInACircle() {
        assertEquals(List.of(), ClassCircles.of(classes));
    }

    @Test
    void everyModuleIsSeen() {
        for (String module : List.of("protocol", "memory", "policy", "manager", "manager.schedule", "cli", "autotalk",
                "os", "device", "nvidia", "software", "guardian.ptx", "guardian.image", "guardian.verify", "executor", "agent.boot", "agent.start",
                "agent.instrument")) {
            String prefix = "io.tessera." + module + ".";
            long seen = classes.stream().filter(type -> (type.getPackageName() + ".").startsWith(prefix)).count();
            assertTrue(seen >= CLASSES_AT_LEAST, "only " + seen + " classes of " + prefix);
        }
        assertTrue(classes.stream().noneMatch(type -> type.getPackageName().contains("violation")),
                "the classes that break the rules on purpose are no production classes");
    }
}

package io.tessera.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/** The rules; what each is for stands in its {@code because}. */
final class ArchitectureRules {
    private static final String[] JDK = {"java..", "javax..", "jdk..", "com.sun.source.."};
    private static final Set<String> MEANINGLESS = Set.of("util", "utils", "common", "impl", "helper", "helpers", "misc", "shared", "core");

    static final ArchRule PROTOCOL_USES_THE_JDK = usesOnly("io.tessera.protocol..");
    static final ArchRule OS_USES_THE_JDK = usesOnly("io.tessera.os..");
    static final ArchRule MEMORY_USES_THE_JDK = usesOnly("io.tessera.memory..");
    static final ArchRule POLICIES_USE_THE_JDK = usesOnly("io.tessera.policy..");
    static final ArchRule AUTOTALK_USES_THE_JDK = usesOnly("io.tessera.autotalk..");
    static final ArchRule MANAGER_USES_PROTOCOL_AND_MEMORY = usesOnly("io.tessera.manager..",
            "io.tessera.protocol..", "io.tessera.memory..", "io.tessera.os..", "io.tessera.clock..",
            "io.tessera.guardian.state..", "io.tessera.guardian.window..", "io.tessera.guardian.cache..",
            "io.tessera.guardian.trust..", "io.tessera.policy..", "org.slf4j..", "com.google.gson..", "org.tomlj..");
    static final ArchRule EXECUTOR_USES_PROTOCOL_MEMORY_GUARDIAN_AND_THE_PORTS = usesOnly("io.tessera.executor..",
            "io.tessera.protocol..", "io.tessera.policy..", "io.tessera.memory..", "io.tessera.guardian..", "io.tessera.device..", "io.tessera.os..",
            "io.tessera.clock..", "org.slf4j..", "com.google.gson..", "com.sun.management..");
    static final ArchRule GUARDIAN_USES_THE_JDK = usesOnly("io.tessera.guardian..", "io.airlift.compress..");
    /** A fault of the rewriter must be none of the verifier's. */
    static final ArchRule VERIFIER_USES_THE_PARSER = usesOnly("io.tessera.guardian.verify..", "io.tessera.guardian.ptx..");
    static final ArchRule DEVICE_PORT_USES_THE_JDK = usesOnly("io.tessera.device..");
    static final ArchRule NVIDIA_USES_THE_DEVICE_PORT = usesOnly("io.tessera.nvidia..", "io.tessera.device..");
    static final ArchRule SOFTWARE_GPU_USES_THE_DEVICE_PORT_AND_PTX = usesOnly("io.tessera.software..",
            "io.tessera.device..", "io.tessera.guardian.ptx..", "io.tessera.guardian.image..", "com.sun.management..");
    static final ArchRule DEMO_PROGRAMS_ARE_ORDINARY = usesOnly("io.tessera.demo..", "jcuda..");
    static final ArchRule SAMPLES_ARE_ORDINARY = usesOnly("io.tessera.samples..", "jcuda..", "org.bytedeco..",
            "com.sun.net.httpserver..");
    /** Its classes are defined in the bootstrap loader, where nothing else of ours is. */
    static final ArchRule AGENT_BOOT_USES_THE_JDK = usesOnly("io.tessera.agent.boot..", "io.tessera.agent.clock..");
    static final ArchRule AGENT_USES_THE_JDK_BYTE_BUDDY_AND_JNA = usesOnly("io.tessera.agent..",
            "net.bytebuddy..", "com.sun.jna..");
    static final ArchRule COMMANDS_ASK_THE_MANAGER_OVER_ITS_SOCKET = usesOnly("io.tessera.cli..",
            "io.tessera.protocol..", "io.tessera.guardian..", "io.tessera.policy..", "picocli..", "com.google.gson..",
            "com.sun.tools.attach..");

    static final ArchRule POLICIES_ARE_PURE = noClasses()
            .that().resideInAnyPackage("io.tessera.manager.schedule..", "io.tessera.memory..", "io.tessera.policy..")
            .should().dependOnClassesThat(resideInAnyPackage("java.io..", "java.nio..", "java.net..",
                    "java.lang.foreign..", "java.time..", "java.util.concurrent..", "io.tessera.os..",
                    "io.tessera.clock..").or(
                            describe("are threads",
                                    type -> type.isAssignableTo(Thread.class))))
            .because("policies run stepwise in a test: time, files and sockets are passed in");

    static final ArchRule THE_CLOCK_IS_INJECTED = noClasses()
            .that().resideOutsideOfPackages("..clock..", "io.tessera.demo..", "io.tessera.samples..")
            .should().callMethod(System.class, "nanoTime")
            .orShould().callMethod(System.class, "currentTimeMillis")
            .because("clocks come in through a port, so that every policy can be stepped through; the demo's programs"
                    + " and the samples are ordinary ones");

    /** All other waits are in package {@code io.tessera.executor.wait}. The thread of {@code PartKeeper} waits for nothing: it looks once in a while. */
    private static final Set<String> SLEEPERS = Set.of("io.tessera.executor.wait.BoundedWait", "io.tessera.executor.part.PartKeeper");
    static final ArchRule THE_EXECUTOR_SLEEPS_IN_ONE_PLACE = noClasses()
            .that().resideInAPackage("io.tessera.executor..").and(areNot(SLEEPERS))
            .should().accessTargetWhere(isOneOf(Set.of(Thread.class.getName(), LockSupport.class.getName()),
                    Set.of("sleep", "park", "parkNanos", "parkUntil")))
            .because("each wait has a limit of WaitLimit and goes through BoundedWait");

    /** The warm-up writes records as a client does; a segment says how many entries there are. */
    private static final Set<String> TABLES_OF_CALLS = Set.of("io.tessera.executor.call.CallTable", "io.tessera.executor.call.CallShape",
            "io.tessera.executor.driver.DriverTable", "io.tessera.executor.warmup.WarmUpClient", "io.tessera.executor.session.SessionFactory");
    static final ArchRule A_CALL_HAS_ONE_MEANING = noClasses()
            .that().resideInAPackage("io.tessera.executor..").and(areNot(TABLES_OF_CALLS))
            .should().accessTargetWhere(isOneOf(Set.of("io.tessera.device.DriverEntry", "io.tessera.device.DriverApi"),
                    Set.of("ordinal", "values", "equals", "compareTo", "hashCode")))
            .because(
                    "what a call means is in its row of the call table, and what a driver does at an entry in the driver's table: no switch, array or set of names");

    static final ArchRule NO_CYCLES = slices().matching("io.tessera.(**)").should().beFreeOfCycles();

    static final ArchRule PACKAGES_HAVE_MEANING = classes().should(notLiveIn(MEANINGLESS))
            .because("a package is named after what is in it");

    /** The rules by name. */
    static final List<ArchRule> ALL = List.of(PROTOCOL_USES_THE_JDK, OS_USES_THE_JDK, MEMORY_USES_THE_JDK,
            POLICIES_USE_THE_JDK, AUTOTALK_USES_THE_JDK, GUARDIAN_USES_THE_JDK, VERIFIER_USES_THE_PARSER, DEVICE_PORT_USES_THE_JDK,
            MANAGER_USES_PROTOCOL_AND_MEMORY,
            EXECUTOR_USES_PROTOCOL_MEMORY_GUARDIAN_AND_THE_PORTS, NVIDIA_USES_THE_DEVICE_PORT,
            SOFTWARE_GPU_USES_THE_DEVICE_PORT_AND_PTX, DEMO_PROGRAMS_ARE_ORDINARY,
            SAMPLES_ARE_ORDINARY, AGENT_BOOT_USES_THE_JDK, AGENT_USES_THE_JDK_BYTE_BUDDY_AND_JNA,
            COMMANDS_ASK_THE_MANAGER_OVER_ITS_SOCKET, POLICIES_ARE_PURE, THE_CLOCK_IS_INJECTED, THE_EXECUTOR_SLEEPS_IN_ONE_PLACE,
            A_CALL_HAS_ONE_MEANING, NO_CYCLES, PACKAGES_HAVE_MEANING);

    private ArchitectureRules() {
    }

    private static ArchRule usesOnly(String module, String... others) {
        String[] allowed = new String[JDK.length + others.length + 1];
        System.arraycopy(JDK, 0, allowed, 0, JDK.length);
        System.arraycopy(others, 0, allowed, JDK.length, others.length);
        allowed[allowed.length - 1] = module;
        return classes().that().resideInAPackage(module).should()
                .onlyDependOnClassesThat(resideInAnyPackage(allowed)
                        .or(describe("are primitive", JavaClass::isPrimitive))
                        .or(describe("are arrays of primitives",
                                type -> type.isArray() && type.getBaseComponentType().isPrimitive())))
                .because("the arrows of the design say so");
    }

    private static DescribedPredicate<JavaClass> areNot(Set<String> names) {
        return describe("are not among " + names,
                type -> names.stream().noneMatch(name -> type.getName().equals(name) || type.getName().startsWith(name + "$")));
    }

    /** Calls of methods, and references to them. */
    private static DescribedPredicate<JavaAccess<?>> isOneOf(Set<String> owners, Set<String> methods) {
        return describe("is one of " + methods + " of " + owners,
                access -> owners.contains(access.getTargetOwner().getName()) && methods.contains(access.getName()));
    }

    private static ArchCondition<JavaClass> notLiveIn(Set<String> names) {
        return new ArchCondition<>("not live in a package named one of " + names) {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                for (String part : type.getPackageName().split("\\.")) {
                    if (names.contains(part)) {
                        events.add(SimpleConditionEvent.violated(type, type.getFullName() + " lives in " + part));
                    }
                }
            }
        };
    }
}

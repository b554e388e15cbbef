package io.tessera.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the agent records and leaves alone, each case in a fresh JVM. */
@Timeout(200)
class AgentTest {
    @TempDir
    static Path folder;
    private static String table;

    @BeforeAll
    static void writeTable() throws IOException {
        table = "jmx=on,table=" + Fixtures.table(folder);
    }

    static List<Path> jvms() throws IOException {
        return Child.jvms();
    }

    private static void assertSame(Child.Outcome expected, Child.Outcome found) {
        assertEquals(expected.toString(), found.toString());
    }

    @ParameterizedTest
    @MethodSource("jvms")
    void theApplicationsOutputStaysTheSame(Path jvm) throws Exception {
        Child.Outcome without = Child.on(jvm).run("plain");
        assertEquals(0, without.code, without.toString());
        assertSame(without, Child.on(jvm).withAgent(table).run("plain"));
        assertSame(Child.on(jvm).run("sees"), Child.on(jvm).withAgent(table).run("sees"));
    }

    @ParameterizedTest
    @MethodSource("jvms")
    void whatTheLibraryDoesIsRecorded(Path jvm) throws Exception {
        Child.Outcome run = Child.on(jvm).withAgent(table + ",record=on").run("records");
        String program = "io.tessera.agent.fixture.FixtureProgram";
        assertEquals(List.of("LiveBytes 3300", "thrown the library's own", "LiveBytes 2000", "Launches 20",
                "Suppressed 0", "heap device 1 2000 " + program),
                run.out.lines().limit(6).collect(
                        Collectors.toList()),
                run.toString());
        assertTrue(run.out.contains("launcher saxpy 10 0 " + program), run.toString());
        assertTrue(run.out.contains("launcher libraryGemm 10 0 " + program), run.toString());
        assertTrue(run.out.contains("launcher [copy host to device] 10 80 " + program), run.toString());
        assertEquals("", run.err);
    }

    @Test
    void nativeAccessMayBeDenied() throws Exception {
        if (Runtime.version().feature() >= 24) {
            Child.Outcome run = Child.here().flag("--illegal-native-access=deny").withAgent(table).run("plain");
            assertSame(Child.here().run("plain"), run);
        }
    }

    @Test
    void collectedOwnersAreFoundAndDerivedPointersKeepMemory() throws Exception {
        Child.Outcome run = Child.here().withAgent(table).run("collected");
        assertEquals("derived keeps it: true true\ncollected 2\n", run.out, run.toString());
    }

    @Test
    void whatAdviceThrowsIsCountedAndGoesNoFurther() throws Exception {
        Child.Outcome run = Child.here().withAgent(table).run("suppresses");
        assertEquals("alloc 0\nfree 0\nSuppressed 2\n", run.out, run.toString());
    }

    @Test
    void launchesAndCopiesCreateNothing() throws Exception {
        Child.Outcome run = Child.here().withAgent(table + ",record=sampled:1000000000").run("allocates");
        assertEquals("warm true\nbytes per launch 0\nLaunches 600000\n", run.out, run.toString());
    }

    @Test
    void recordingCanBeOff() throws Exception {
        Child.Outcome run = Child.here().withAgent(table + ",record=off").run("allocates");
        assertEquals("warm true\nbytes per launch 0\nLaunches 0\n", run.out, run.toString());
    }

    @Test
    void theFacadeWorksWithAndWithoutTheAgent() throws Exception {
        assertEquals("present false\nwaited 0\n", Child.here().run("facade").out);
        assertEquals("present true\nwaited 0\nphase training 1\n", Child.here().withAgent(table).run("facade").out);
    }

    @Test
    void aTracingAgentMayBeThereBeforeOrAfter() throws Exception {
        Path tracing = Fixtures.tracingAgent(folder);
        String libraries = Fixtures.byteBuddy();
        Child.Outcome before = Child.here().classPath(libraries).flag("-javaagent:" + tracing).withAgent(table)
                .run("records");
        assertTrue(before.out.contains("traced\n") && before.out.contains("LiveBytes 3300"), before.toString());
        Child.Outcome after = Child.here().classPath(libraries).withAgent(table).flag("-javaagent:" + tracing)
                .run("records");
        assertTrue(after.out.contains("traced\n") && after.out.contains("LiveBytes 3300"), after.toString());
    }

    @Test
    void wrappedNativeMethodsStandARetransformation() throws Exception {
        Child.Outcome run = Child.here().classPath(Fixtures.byteBuddy()).withAgent(table)
                .flag("-javaagent:" + Fixtures.tracingAgent(folder)).run("natives");
        String once = "[launch false, tessera$launch true]\nno library\n";
        assertEquals("exit 0\n" + once + once, "exit " + run.code + "\n" + run.out, run.toString());
    }

    @ParameterizedTest
    @MethodSource("jvms")
    void childrenInheritNothing(Path jvm) throws Exception {
        assertEquals("exit 0\n--- stdout\nchild 0\n--- stderr\n",
                Child.on(jvm).withAgent("share=space,tenant=me").run("forks").toString());
    }

    @Test
    void flightRecorderGetsTheEvents() throws Exception {
        Path recording = folder.resolve("recording.jfr");
        Child.Outcome run = Child.here().flag("-XX:StartFlightRecording:filename=" + recording + ",settings="
                + Fixtures.jfrSettings(folder)).withAgent(table + ",record=on").run("events");
        assertTrue(run.out.contains("events true"), run.toString());
        List<String> events = Fixtures.events(recording);
        assertTrue(events.containsAll(List.of("tessera.Allocation", "tessera.Free", "tessera.LaunchSample")),
                events.toString());
    }

    @Test
    void twoStartsAreOne() throws Exception {
        Child.Outcome run = Child.here().withAgent(table).withAgent(table + ",record=on").run("records");
        assertTrue(run.out.contains("LiveBytes 3300"), run.toString());
    }

    /** Bean servers load native libraries, and a thread that loads its own may load a class meanwhile: neither waits for the other. */
    @ParameterizedTest
    @MethodSource("jvms")
    void classesAreInstrumentedWhileTheBeanServerIsMade(Path jvm) throws Exception {
        Child.Outcome run = Child.on(jvm).flag("-Xshare:off", "-Xbootclasspath/a:" + Fixtures.slowBeanServer(folder),
                "-Djavax.management.builder.initial=io.tessera.agent.fixture.SlowBeanServer").withAgent(table)
                .run("loads");
        assertEquals("exit 0\n--- stdout\nmade true\n[launch false, tessera$launch true]\nloaded true\nLaunches 1\n"
                + "--- stderr\n", run.toString());
    }
}

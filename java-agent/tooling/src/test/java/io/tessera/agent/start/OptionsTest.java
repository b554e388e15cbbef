package io.tessera.agent.start;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What stands behind the jar's name. */
class OptionsTest {
    @Test
    void valuesAndDefaults() {
        Options options = Options.of("share=space, memory=2GiB,tenant=a b,sample=16");
        assertEquals(List.of(), options.complaints());
        assertEquals("space", options.get("share", "time"));
        assertEquals(Long.toString(2L << 30), options.get("memory", null));
        assertEquals("a b", options.get("tenant", null));
        assertEquals("sampled:16", options.get("record", "sampled"));
        assertTrue(options.is("jmx", "on", "on"));
        assertEquals(List.of(), Options.of(null).complaints());
    }

    @Test
    void plansReachTheLibrary() {
        for (String plan : List.of("plain", "managed", "swap", "auto")) {
            Options options = Options.of("plan=" + plan);
            assertEquals(List.of(), options.complaints());
            assertEquals(plan, Startup.environment(options).get("TESSERA_PLAN"));
        }
        assertEquals(Options.DEFAULT_PLAN, Startup.environment(Options.of(null)).get("TESSERA_PLAN"));
        Options wrong = Options.of("plan=fast");
        assertEquals(1, wrong.complaints().size());
        assertTrue(wrong.complaints().get(0).startsWith("plan=fast: plan is one of "), wrong.complaints()::toString);
        assertEquals(Options.DEFAULT_PLAN, Startup.environment(wrong).get("TESSERA_PLAN"));
    }

    @Test
    void theDefaultPlanIsThatOfTesseraRun() throws Exception {
        Path script = Path.of("").toAbsolutePath().resolve("../../tools/tessera");
        assertTrue(Files.readAllLines(script).contains("default_plan=" + Options.DEFAULT_PLAN), script::toString);
    }

    @Test
    void sizes() {
        for (String[] size : new String[][] {{"1", "1"}, {"3KiB", "3072"}, {"1M", "1048576"}, {"2GB", "2000000000"},
                {"1T", "1099511627776"}}) {
            assertEquals(size[1], Options.of("memory=" + size[0]).get("memory", null), size[0]);
        }
        for (String wrong : List.of("0", "GiB", "-1", "1XiB", "99999999999TiB", "1GiBB", "1.5G")) {
            assertEquals(1, Options.of("memory=" + wrong).complaints().size(), wrong);
        }
    }

    @Test
    void whatIsNotUnderstoodIsAComplaint() {
        Options options = Options.of("colour=blue,share=both,tenant=,tenant=" + "x".repeat(64));
        assertEquals(4, options.complaints().size(), options.complaints().toString());
        assertEquals("time", options.get("share", "time"));
    }

    @Test
    void aFileOfOptions(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("agent.options");
        Files.write(file, List.of("# GPU", "share=space", "", "memory=1GiB", "options=" + file));
        Options options = Options.of("options=" + file + ",record=off");
        assertEquals("space", options.get("share", "time"));
        assertEquals("off", options.get("record", "on"));
        assertEquals(1, options.complaints().size(), options.complaints().toString());
        assertEquals(1, Options.of("options=" + folder.resolve("none")).complaints().size());
    }
}

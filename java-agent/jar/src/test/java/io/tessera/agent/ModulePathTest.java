package io.tessera.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A modular application, whose library is a named module that reads and opens nothing to anybody. */
@Timeout(300)
class ModulePathTest {
    private static final Map<String, String> SOURCES = Map.of(
            "lib/module-info.java", "module lib { exports lib; }",
            "lib/lib/Cuda.java", "package lib; public class Cuda { public static class P { long address; }"
                    + " public static int alloc(P p, long bytes) { p.address = 4096; return 0; } }",
            "app/module-info.java", "module app { requires lib; requires java.management; }",
            "app/app/Main.java", "package app; import java.lang.management.*; import javax.management.*;"
                    + " public class Main { public static void main(String[] a) throws Exception {"
                    + " lib.Cuda.P p = new lib.Cuda.P(); lib.Cuda.alloc(p, 512);"
                    + " ObjectName n = new ObjectName(\"io.tessera:type=Gpu\");"
                    + " MBeanServer s = ManagementFactory.getPlatformMBeanServer();"
                    + " for (int i = 0; i < 600 && !s.isRegistered(n); i++) { Thread.sleep(50); }"
                    + " System.out.print(s.getAttribute(n, \"Launches\") + \" \");"
                    + " System.out.println(s.getAttribute(n, \"Suppressed\"));"
                    + " System.out.println(s.getAttribute(n, \"LiveBytes\")); } }");

    @Test
    void namedModulesAreRecorded(@TempDir Path folder) throws Exception {
        Path modules = compiled(folder);
        Path table = folder.resolve("lib.table");
        Files.write(table, List.of("address lib.Cuda$P address owner", "alloc lib.Cuda alloc address=0 bytes=1"));
        Child.Outcome run = Child.here().withAgent("driver=no,jmx=on,table=" + table)
                .runWith(List.of("-p", modules.toString(), "-m", "app/app.Main"));
        assertEquals("exit 0\n--- stdout\n0 1\n0\n--- stderr\n", run.toString(),
                "a field of a class that is not opened cannot be read: counted, nothing else");
        Files.write(table, List.of("alloc lib.Cuda alloc address=0 bytes=1"));
        Child.Outcome opened = Child.here().withAgent("driver=no,jmx=on,table=" + withOpenField(folder, table))
                .runWith(List.of("-p", modules.toString(), "--add-opens", "lib/lib=ALL-UNNAMED", "-m", "app/app.Main"));
        assertEquals("exit 0\n--- stdout\n0 0\n512\n--- stderr\n", opened.toString());
    }

    private static Path withOpenField(Path folder, Path table) throws IOException {
        Path opened = folder.resolve("opened.table");
        Files.writeString(opened, Files.readString(table) + "address lib.Cuda$P address owner\n");
        return opened;
    }

    private static Path compiled(Path folder) throws IOException {
        for (Map.Entry<String, String> source : SOURCES.entrySet()) {
            Path file = folder.resolve("src").resolve(source.getKey());
            Files.createDirectories(file.getParent());
            Files.writeString(file, source.getValue());
        }
        Path modules = folder.resolve("modules");
        int code = ToolProvider.findFirst("javac").orElseThrow().run(System.out, System.err, "-d", modules.toString(),
                "--module-source-path", folder.resolve("src").toString(), "--module", "app,lib");
        assertEquals(0, code);
        return modules;
    }
}

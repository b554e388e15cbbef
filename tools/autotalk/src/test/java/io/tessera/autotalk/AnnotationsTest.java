package io.tessera.autotalk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Decisions about entries, and what is said where one is missing. */
class AnnotationsTest {
    @TempDir
    private Path directory;

    private Description description(String text) throws Exception {
        Path file = directory.resolve("x.api");
        Files.writeString(file, text);
        return Description.read(file);
    }

    private Annotations annotations(String text) throws Exception {
        Path file = directory.resolve("x.annotations");
        Files.writeString(file, text);
        return Annotations.read(file);
    }

    @Test
    void theFirstMatchDecides() throws Exception {
        Description d = description("entry cuMemAlloc\n  out void* p\nentry cuMemAlloc_v2\nentry cuMemFree\n");
        Annotations a = annotations("cuMemAlloc{,_v2} hook\ncuMem* pass\nparam cuMemAlloc.p extent=n space=device\n");
        assertEquals(List.of(), a.problems(d));
        assertEquals(new Service.Hook(), a.serviceOf(d.entries().get("cuMemAlloc_v2")).orElseThrow());
        assertEquals(new Service.Pass(), a.serviceOf(d.entries().get("cuMemFree")).orElseThrow());
        assertEquals(List.of(), a.open(d));
    }

    @Test
    void reportsWhatIsOpenAndWhatIsIdle() throws Exception {
        Description d = description("entry cuA\n  in const:void* from\nentry cuB unknown\n");
        Annotations a = annotations("cuB submit COPY\ncuC pass\nparam cuA.nothing extent=1\n");
        assertEquals(List.of("cuA: no line says how it is served",
                "cuB: parameters unknown, so no wrapper can be generated", "line 2: cuC decides no entry",
                "line 3: cuA.nothing names no parameter"), a.problems(d));
        assertEquals(List.of("cuA.from"), a.open(d));
        assertThrows(AutotalkException.class, () -> Served.all(d, a));
    }

    @Test
    void refusesWordsThatItDoesNotKnow() {
        for (String line : List.of("cuA maybe", "cuA", "cuA submit SOMETHING", "param cuA extent=1",
                "param cuA.x size=1")) {
            AutotalkException e = assertThrows(AutotalkException.class, () -> annotations("\n" + line + "\n"), line);
            assertTrue(e.getMessage().startsWith("x.annotations:2:"), e.getMessage());
        }
    }

    @Test
    void everyEntryOfTheRealDescriptionIsDecided() {
        Path api = Path.of("../../native-preload/api");
        Description cuda = Description.read(api.resolve("cuda.api"));
        assertEquals(List.of(), Annotations.read(api.resolve("cuda.annotations")).problems(cuda));
        Description nvml = Description.read(api.resolve("nvml.api"));
        assertEquals(List.of(), Annotations.read(api.resolve("nvml.annotations")).problems(nvml));
    }

    @Test
    void everyNameThatTheVendorExportsIsDescribed() throws Exception {
        Path api = Path.of("../../native-preload/api");
        List<String> names = Files.readAllLines(api.resolve("cuda-580.names"));
        assertEquals(674, names.size());
        assertTrue(Description.read(api.resolve("cuda.api")).entries().keySet().containsAll(names));
    }

    @Test
    void theDescriptionIsThatOfTheHeaderWhereOneIsInstalled() {
        List<Path> found = List.of(Path.of("/usr/local/cuda-13.0/include"), Path.of("/usr/local/cuda/include"),
                Path.of("/opt/cuda/include")).stream().filter(p -> Files.exists(p.resolve("cuda.h"))).toList();
        org.junit.jupiter.api.Assumptions.assumeFalse(found.isEmpty(), "no CUDA toolkit is installed");
        Description now = new HeaderReader("cc").read(List.of("cuda.h", "cudaGL.h", "cudaEGL.h", "cudaProfiler.h")
                .stream().map(found.getFirst()::resolve).toList());
        org.junit.jupiter.api.Assumptions.assumeTrue("13000".equals(now.sources().get("cuda.h")),
                "the installed header is another version");
        Description committed = Description.read(Path.of("../../native-preload/api/cuda.api"));
        List<String> lines = DescriptionDiff.lines(now, committed).stream().filter(l -> !l.endsWith(" unknown"))
                .toList();
        assertEquals(List.of(), lines);
    }
}

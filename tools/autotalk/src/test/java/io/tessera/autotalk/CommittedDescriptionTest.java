package io.tessera.autotalk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.autotalk.annotation.Decisions;
import io.tessera.autotalk.annotation.Serving;
import io.tessera.autotalk.description.Description;
import io.tessera.autotalk.description.DescriptionText;
import io.tessera.autotalk.description.Entry;
import io.tessera.autotalk.description.EntryParameter;
import io.tessera.autotalk.generate.Generator;
import io.tessera.autotalk.marshal.Structures;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The description and the annotations that are committed, held against each other and against what they must cover. */
class CommittedDescriptionTest {
    private static final int NAMES_OF_580 = 674;

    @Test
    void everyNameOfTheVendorIsExported() {
        List<String> names = Repository.text("cuda-580.names").lines().toList();
        assertEquals(NAMES_OF_580, new TreeSet<>(names).size());
        String map = Generator.files(Repository.cuda()).get("exports.map");
        assertEquals(List.of(), names.stream().filter(name -> !map.contains("\n    " + name + ";\n")).toList());
    }

    @Test
    void everyEntryIsDecided() {
        assertEquals(List.of(), Repository.cuda().problems());
        assertEquals(List.of(), Repository.cuda().unknownExtents());
        assertEquals(List.of(), new Structures(Repository.cuda(), Repository.cuda().structures()).problems());
    }

    @Test
    void theTextIsAsTheToolWritesIt() {
        String text = Repository.text("cuda.api");
        assertEquals(text, DescriptionText.write(DescriptionText.read("cuda.api", text)));
    }

    @Test
    void coverageIsCurrent() {
        String api = Repository.API.toString();
        Path page = Repository.API.resolveSibling("COVERAGE.md");
        Run run = Run.of("coverage", "--api", api + "/cuda.api", "--annotations", api + "/cuda.annotations", "--relay",
                api + "/cuda.relay", "--api", api + "/nvml.names", "--annotations", api + "/nvml.annotations", "--out", page.toString(), "--check");
        assertEquals(0, run.code(), run.err());
    }

    /** Work that got past the gate would run outside a turn: whatever takes a stream and is asynchronous is looked at. */
    @Test
    void noAsynchronousWorkPassesTheGate() {
        Decisions decisions = Repository.cuda();
        List<String> passed = decisions.description().exports().stream()
                .filter(export -> decisions.serving(export.entry()).orElseThrow() instanceof Serving.Pass)
                .map(Description.Export::name)
                .filter(name -> name.contains("Async") || name.startsWith("cuLaunch") || name.startsWith("cuMemcpy")
                        || name.startsWith("cuMemset"))
                .filter(name -> !name.contains("AsyncNotification"))
                .toList();
        assertEquals(List.of(), passed);
    }

    @Test
    void allocationsFreesAndContextsAreOurs() {
        Decisions decisions = Repository.cuda();
        for (String name : List.of("cuMemAlloc", "cuMemAlloc_v2", "cuMemFree_v2", "cuMemAllocAsync", "cuMemFreeAsync",
                "cuMemAllocFromPoolAsync", "cuMemCreate", "cuMemRelease", "cuArray3DCreate_v2", "cuCtxCreate_v4",
                "cuCtxDestroy_v2", "cuDevicePrimaryCtxRelease_v2", "cuStreamBeginCapture_v2", "cuGetProcAddress_v2",
                "cuIpcOpenMemHandle_v2", "cuGLCtxCreate_v2", "cuVDPAUCtxCreate_v2", "cuGraphAddNode_v2")) {
            Entry entry = decisions.description().entries().get(name);
            assertEquals(new Serving.Hook(), decisions.serving(entry).orElseThrow(), name);
        }
    }

    @Test
    void thingsThatAreEasyToGetWrong() {
        Description description = Repository.cuda().description();
        assertEquals("value(64,1)", passing(description, "cuIpcOpenMemHandle_v2", "handle"));
        assertEquals("value(8,4)", passing(description, "cuMemPrefetchAsync_v2", "location"));
        assertEquals("u32", passing(description, "cuMemFree", "dptr"));
        assertEquals("u64", passing(description, "cuMemFree_v2", "dptr"));
        assertEquals("pointer(128)", passing(description, "cuMemcpy2D_v2", "pCopy"));
        assertEquals("cuGraphInstantiate", description.entries().get("cuGraphInstantiateWithFlags").api());
        assertTrue(description.entries().get("cuMemcpyHtoD_v2").perThread().orElseThrow().endsWith("_ptds"));
    }

    private static String passing(Description description, String entry, String parameter) {
        EntryParameter found = description.entries().get(entry).signature().orElseThrow().parameters().stream()
                .filter(candidate -> candidate.name().equals(parameter)).findFirst().orElseThrow();
        return description.passing(found.type());
    }
}

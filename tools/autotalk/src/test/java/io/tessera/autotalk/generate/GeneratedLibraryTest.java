package io.tessera.autotalk.generate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.autotalk.Repository;
import io.tessera.autotalk.annotation.AnnotationText;
import io.tessera.autotalk.annotation.Decisions;
import io.tessera.autotalk.description.Description;
import io.tessera.autotalk.header.HeaderReader;
import io.tessera.autotalk.header.LookupVersions;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compiles what is generated, and runs it in front of a driver of our own. */
class GeneratedLibraryTest {
    @TempDir
    private Path directory;

    @Test
    void everyArgumentArrivesOnEveryPath() throws IOException, InterruptedException {
        NativeBuild build = new NativeBuild(directory).withResources("driver.h", "driver.annotations", "driver/driver_types.h",
                "direct/pools/driver_room.h", "direct/turns/gate.h", "direct/entry/sync.h", "vendor.c", "ours.c", "caller.c");
        Description description = HeaderReader.read("cuda", List.of(new HeaderReader.Header("driver.h",
                Files.readString(directory.resolve("driver.h")))), Map.of());
        Decisions decisions = new Decisions(description, AnnotationText.read("driver.annotations",
                Files.readString(directory.resolve("driver.annotations"))));
        assertEquals(List.of(), decisions.problems());
        build.withFiles(Generator.files(decisions));
        Path exports = directory.resolve("exports.map");
        Files.writeString(exports, Files.readString(exports).replace("  local:",
                "    noted; use_vendor; hooked_where; entry_name;\n  local:"));

        build.compile("-shared", "-fvisibility=default", "-o", "libvendor.so", "vendor.c");
        build.compile("-shared", "-I", ".", "-I", Repository.INCLUDE.toString(), "-Wl,--version-script=exports.map",
                "-Wl,-Bsymbolic", "-Wl,-z,relro,-z,now,-z,defs", "-o", "libours.so", "ours.c", "submit.c", "entry_names.c",
                "hooked_entries.c", "trampolines.S", "-ldl");
        build.compile("-o", "caller", "caller.c", "-ldl");
        assertEquals("0 failures, 9 looked up\n", build.run(List.of("./caller",
                directory.resolve("libours.so").toString(), directory.resolve("libvendor.so").toString())));
        build.compile("-c", "trampolines.S"); /* the linked library also depends on the compiler's own start files */
        assertTrue(build.run(List.of("readelf", "-nW", "trampolines.o")).contains("IBT, SHSTK"));
        String segments = build.run(List.of("readelf", "-lW", "libours.so"));
        assertTrue(segments.lines().anyMatch(line -> line.contains("GNU_STACK") && !line.contains("RWE")), segments);
    }

    @Test
    void theWholeDriverCompilesWithoutWarnings() throws IOException, InterruptedException {
        Decisions decisions = Repository.cuda();
        NativeBuild build = new NativeBuild(directory).withResources("driver/driver_types.h", "direct/pools/driver_room.h",
                "direct/turns/gate.h", "direct/entry/sync.h")
                .withFiles(Generator.files(decisions));
        for (String source : List.of("submit.c", "entry_names.c", "hooked_entries.c", "trampolines.S")) {
            build.compile("-I", ".", "-I", Repository.INCLUDE.toString(), "-c", source);
        }
        Set<String> all = names(decisions, "pass", "submit", "sync", "room", "hook");
        assertEquals(all, defined(build, "trampolines.o"));
        assertEquals(names(decisions, "submit", "sync", "room").stream().map(name -> "direct_" + name)
                .collect(Collectors.toCollection(TreeSet::new)), defined(build, "submit.o"));
    }

    /** Every function of the relay's table is generated, or declared as hand-written. */
    @Test
    void theRelayPortCompilesWithoutWarnings() throws IOException, InterruptedException {
        NativeBuild build = new NativeBuild(directory).withFiles(Generator.files(Repository.cuda())).withFiles(Repository.constantsHeader());
        for (String source : List.of("relay_senders.c", "relay_twins.c", "relay_port.c")) {
            build.compile("-I", ".", "-I", Repository.INCLUDE.toString(), "-I", Repository.SOURCE.toString(), "-c", source);
        }
        Set<String> generated = defined(build, "relay_senders.o");
        generated.addAll(defined(build, "relay_twins.o"));
        String undefined = build.run(List.of("nm", "--undefined-only", "relay_port.o"));
        assertEquals(List.of("relay_unsupported", "relay_unsupported_query"), undefined.lines().filter(line -> line.contains(" U "))
                .map(line -> line.substring(line.lastIndexOf(' ') + 1)).filter(name -> name.startsWith("relay_"))
                .filter(name -> !generated.contains(name)).toList());
    }

    @Test
    void relayedCallsArriveWithTheirLengths() throws IOException, InterruptedException {
        NativeBuild build = new NativeBuild(directory).withResources("relay_caller.c", "relay_driver.h",
                "relay_driver.annotations", "relay_driver.relay", "relay_driver_typedefs.h");
        Description declared = HeaderReader.read("cuda", List.of(new HeaderReader.Header("relay_driver.h",
                text("relay_driver.h"))), Map.of("twins.names",
                        List.of("cuInit", "cuMemAlloc", "cuMemAlloc_v2",
                                "cuMemAllocManaged", "cuMemsetD8Async", "cuMemsetD8Async_ptsz", "cuTexRefSetMipmapLevelBias",
                                "cuTexRefSetAddressMode", "cuModuleGetTexRef", "cuModuleLoadData", "cuGraphGetNodes",
                                "cuTensorMapEncode", "cuIpcOpenMemHandle")));
        Decisions decisions = new Decisions(LookupVersions.read(text("relay_driver_typedefs.h")).appliedTo(declared),
                AnnotationText.read("annotations", text("relay_driver.annotations")),
                Optional.of(AnnotationText.readRelay("relay", text("relay_driver.relay"))));
        assertEquals(List.of(), decisions.problems());
        build.withFiles(Generator.files(decisions)).withFiles(Repository.constantsHeader()).compile("-I", Repository.INCLUDE.toString(), "-I",
                Repository.SOURCE.toString(), "-I", ".", "-o", "relay", "relay_caller.c",
                "relay_senders.c", "relay_twins.c", "relay_port.c", "relay_lookup.c");
        assertEquals("0 failures\n", build.run(List.of("./relay")));
    }

    private String text(String name) throws IOException {
        return Files.readString(directory.resolve(name));
    }

    private static Set<String> names(Decisions decisions, String... words) {
        return decisions.description().exports().stream()
                .filter(export -> List.of(words).contains(decisions.serving(export.entry()).orElseThrow().word()))
                .map(Description.Export::name).collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> defined(NativeBuild build, String object) throws IOException, InterruptedException {
        return build.run(List.of("nm", "--defined-only", object)).lines().filter(line -> line.contains(" T "))
                .map(line -> line.substring(line.lastIndexOf(' ') + 1)).collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void aLibraryOfNamesCompilesBesideTheDriver() throws IOException, InterruptedException {
        Description names = HeaderReader.read("nvml", List.of(), Map.of("nvml.names", List.of("nvmlInit_v2",
                "nvmlDeviceGetMemoryInfo", "nvmlDeviceGetMemoryInfo_v2")));
        Decisions decisions = new Decisions(names, AnnotationText.read("nvml.annotations",
                "nvmlInit* pass\nnvmlDeviceGetMemoryInfo hook\n"));
        assertEquals(List.of(), decisions.problems());
        Map<String, String> files = Generator.files(decisions);
        assertEquals("nvml_entries.h nvml_entry_names.c nvml_exports.map nvml_hooked_entries.c nvml_trampolines.S",
                files.keySet().stream().sorted().collect(Collectors.joining(" ")));
        NativeBuild build = new NativeBuild(directory).withFiles(files);
        Files.writeString(directory.resolve("hooks.c"), """
                #include "nvml_entries.h"
                #define EXPORT __attribute__((visibility("default")))
                EXPORT int nvmlDeviceGetMemoryInfo(void *device, void *memory) { return device != memory; }
                EXPORT int nvmlDeviceGetMemoryInfo_v2(void *device, void *memory) { return device == memory; }
                void *tessera_nvml_resolve(unsigned index)
                {
                    return index < TESSERA_NVML_ENTRY_COUNT ? tessera_nvml_hooked[0].hook : NULL;
                }
                """);
        build.compile("-shared", "-Wl,--version-script=nvml_exports.map", "-Wl,-z,defs", "-o", "libnames.so", "hooks.c",
                "nvml_entry_names.c", "nvml_hooked_entries.c", "nvml_trampolines.S");
        String exported = build.run(List.of("nm", "-D", "--defined-only", "libnames.so"));
        assertEquals(List.of("nvmlDeviceGetMemoryInfo", "nvmlDeviceGetMemoryInfo_v2", "nvmlInit_v2"),
                exported.lines().map(line -> line.substring(line.lastIndexOf(' ') + 1)).sorted().toList());
    }
}

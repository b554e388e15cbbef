package io.tessera.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A fact of the driver interface is written once, in {@code native-preload/api}, and generated for every language. */
@Timeout(300)
class DriverFactsTest {
    private static final List<String> C = List.of("native-preload/src", "native-preload/runtime", "java-agent/native",
            "tests/scripted-driver/src");

    /** Sizes and offsets by hand, which native-preload/checks/layouts.c compares with the description at each build. */
    private static final String CHECKED = "native-preload/src/relay/wire/layouts.h";

    private static DriverFacts facts() throws IOException {
        return DriverFacts.read(SourceTree.root().resolve("native-preload/api"));
    }

    private static String name(Path file) {
        return SourceTree.root().relativize(file).toString();
    }

    private static boolean isProduction(Path file) {
        return switch (Language.of(file)) {
            case JAVA -> name(file).contains("src/main/java/");
            case C -> C.stream().anyMatch(folder -> name(file).startsWith(folder + "/"));
            default -> false;
        };
    }

    @Test
    void noSourceRestatesAFactOfTheDriver() throws IOException {
        DriverFacts facts = facts();
        assertTrue(facts.size() > 700, facts.size() + " names");
        List<String> restated = new ArrayList<>();
        for (Path file : SourceTree.files()) {
            if (isProduction(file) && !name(file).equals(CHECKED)) {
                facts.restated(SourceTree.lines(file)).forEach(line -> restated.add(name(file) + ":" + line));
            }
        }
        assertEquals(List.of(), restated, "use the generated name: CudaEnums, DeviceAttribute, MemoryType, CudaResult or CudaLayouts in"
                + " Java, cuda_constants.h or cuda_layouts.h in C");
    }

    @Test
    void copiesAreSeen() throws IOException {
        DriverFacts facts = facts();
        for (List<String> copy : List.of(
                List.of("/** CU_FUNC_ATTRIBUTE_NUM_REGS. */", "private static final int REGISTERS = 4;"),
                List.of("/** {@code CUlaunchConfig}: grid, block. */", "private static final int BYTES = 56;"),
                List.of("/**", " * In {@code CUDA_MEMCPY3D}.", " */", "static final long PITCH = 72L;"),
                List.of("static final int REGISTERS = 4; // CU_FUNC_ATTRIBUTE_NUM_REGS"),
                List.of("private static final long NON_BLOCKING = 1;"),
                List.of("private static final int NOT_SUPPORTED = 801;"),
                List.of("extra.set(WireTypes.U64, 16, 2); // CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT"),
                List.of("/* CU_STREAM_NON_BLOCKING */", "#define BESIDE 1u"),
                List.of("enum { NON_BLOCKING = 1 };"),
                List.of("enum { BESIDE = 1 }; /* CU_STREAM_NON_BLOCKING */"))) {
            assertEquals(1, facts.restated(copy).size(), copy.toString());
        }
        assertEquals(3, facts.restated(List.of("/** {@code CUDA_MEMCPY3D}: some offsets. */", "static final int TYPE = 32;",
                "static final int HOST = 40;", "static final int DEVICE = 48;", "", "static final int MOST = 7;")).size());
    }

    @Test
    void numbersOfTheTreesOwnAreNone() throws IOException {
        DriverFacts facts = facts();
        assertEquals(List.of(), facts.restated(List.of("/** As CU_STREAM_NON_BLOCKING has it. */",
                "private static final int FLAG = StreamFlag.NON_BLOCKING;",
                "/** More than CUDA_DEVICE_MAX_CONNECTIONS, a variable of the environment. */", "private static final int STREAMS = 48;",
                "/** Has the name of another number. */", "private static final long NON_BLOCKING = 77;",
                "/** One word. */", "private static final int READ = 1;",
                "/** Makes a CUlaunchConfig. */", "void make() {", "    int count = 3;", "}",
                "call(1); // the first one")));
    }
}

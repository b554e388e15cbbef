package io.tessera.autotalk.description;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.autotalk.input.InputException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class ConstantsTest {
    private static final Path FILE = Path.of("../../native-preload/api/cuda.constants");

    @Test
    void linesAreReadByKind() {
        Constants constants = Constants.parse("x", List.of("# note", "format 1", "", "result 2 OUT_OF_MEMORY out of memory",
                "attribute 2 MAX_BLOCK_DIM_X"));
        assertEquals(List.of(new Constants.Constant("result", 2, "OUT_OF_MEMORY", "out of memory")), constants.of("result"));
        assertEquals("", constants.of("attribute").getFirst().text());
    }

    @Test
    void wrongLinesAreRefusedWithTheirPlace() {
        assertEquals("x:1: not 'KIND NUMBER NAME [TEXT]'",
                assertThrows(InputException.class, () -> Constants.parse("x", List.of("result two TWO"))).getMessage());
        assertEquals("x:2: number or name is there twice", assertThrows(InputException.class,
                () -> Constants.parse("x", List.of("result 1 ONE", "result 1 OTHER"))).getMessage());
        assertThrows(InputException.class, () -> Constants.parse("x", List.of("result 1 ONE", "result 2 ONE")));
    }

    @Test
    void enumeratorsHaveWholeNamesAndMayHaveTheNumbersOfOthers() {
        Constants constants = Constants.parse("x",
                List.of("enumeration Some CU_", "enumerator 1 CU_ONE", "enumerator 1 CU_OTHER", "result 0 SUCCESS no error",
                        "result 1 ONE", "attribute 3 WIDTH"));
        assertEquals(List.of("CU_ONE", "CU_OTHER", "CUDA_SUCCESS", "CUDA_ERROR_ONE", "CU_DEVICE_ATTRIBUTE_WIDTH"),
                constants.all().stream().map(Constants.Constant::symbol).toList());
        assertEquals(List.of("CU_ONE", "CU_OTHER"),
                constants.enumerations().getFirst().members().stream().map(Constants.Constant::symbol).toList());
        assertThrows(InputException.class,
                () -> Constants.parse("x", List.of("enumeration Some CU_", "enumerator 1 CU_ONE", "enumerator 2 CU_ONE")));
    }

    @Test
    void enumeratorsBelongToTheEnumerationBeforeThem() {
        assertEquals("x:1: the enumeration before it has another prefix",
                assertThrows(InputException.class, () -> Constants.parse("x", List.of("enumerator 1 CU_ONE"))).getMessage());
        assertThrows(InputException.class, () -> Constants.parse("x", List.of("enumeration Some CU_A_", "enumerator 1 CU_ONE")));
        assertThrows(InputException.class, () -> Constants.parse("x", List.of("enumeration Some CU_A_", "enumeration Some CU_B_")));
    }

    /** Against the header of the toolkit of this machine, of version 13.0: a compiler compares. */
    @Test
    @Tag("nvcc")
    @Timeout(60)
    void numbersAreThoseOfTheHeader(@TempDir Path folder) throws Exception {
        List<Constants.Constant> all = Constants.parse(FILE.toString(), Files.readAllLines(FILE)).all();
        assertTrue(all.size() > 400, all.size() + " enumerators");
        Path program = Files.writeString(folder.resolve("numbers.c"), "#include <cuda.h>\n" + all.stream()
                .map(constant -> "_Static_assert(" + constant.symbol() + " == " + constant.number() + ", \"number\");\n")
                .collect(Collectors.joining()));
        Process compiler = new ProcessBuilder("cc", "-std=c11", "-fsyntax-only", "-I/usr/local/cuda/include", program.toString())
                .redirectErrorStream(true).start();
        String said = new String(compiler.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, compiler.waitFor(), said);
    }
}

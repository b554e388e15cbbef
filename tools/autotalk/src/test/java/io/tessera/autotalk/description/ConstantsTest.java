package io.tessera.autotalk.description;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.autotalk.input.InputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ConstantsTest {
    private static final Path FILE = Path.of("../../native-preload/api/cuda.constants");
    private static final Map<String, String> PREFIXES = Map.of("result", "CUDA_ERROR_", "attribute", "CU_DEVICE_ATTRIBUTE_", "memorytype",
            "CU_MEMORYTYPE_");

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

    /** Against the header of the toolkit of this machine, of version 13.0. */
    @Test
    @Tag("nvcc")
    void numbersAreThoseOfTheHeader() throws IOException {
        String header = Files.readString(Path.of("/usr/local/cuda/include/cuda.h"));
        List<String> wrong = new ArrayList<>();
        Constants constants = Constants.parse(FILE.toString(), Files.readAllLines(FILE));
        for (Map.Entry<String, String> kind : PREFIXES.entrySet()) {
            List<Constants.Constant> all = constants.of(kind.getKey());
            assertTrue(all.size() >= 4, kind.getKey());
            for (Constants.Constant constant : all) {
                String name = constant.name().equals("SUCCESS") ? "CUDA_SUCCESS" : kind.getValue() + constant.name();
                Matcher found = Pattern.compile("\\b" + name + "\\s*=\\s*(0x[0-9a-fA-F]+|\\d+)").matcher(header);
                if (!found.find() || Integer.decode(found.group(1)) != constant.number()) {
                    wrong.add(constant.toString());
                }
            }
        }
        assertEquals(List.of(), wrong);
    }
}

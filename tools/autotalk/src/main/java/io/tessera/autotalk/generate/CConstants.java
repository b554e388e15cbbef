package io.tessera.autotalk.generate;

import io.tessera.autotalk.description.Constants;
import io.tessera.autotalk.description.Constants.Constant;
import java.util.stream.Collectors;

/** Enumerators of the interface as C, under their names in cuda.h, and results as a list with their texts. Stateless. */
public final class CConstants {
    /** The header's name. */
    public static final String HEADER = "cuda_constants.h";

    private CConstants() {
    }

    /** The text of the header. */
    public static String text(Constants constants) {
        return FileNotice.TEXT + "#ifndef CUDA_CONSTANTS_H\n#define CUDA_CONSTANTS_H\n\nenum {\n"
                + constants.all().stream().map(constant -> "    " + constant.symbol() + " = " + constant.number() + ",\n")
                        .collect(Collectors.joining())
                + "};\n\n/* EACH(result, text that cuGetErrorString gives), by number. */\n#define CUDA_RESULTS(EACH) "
                + constants.of("result").stream().map(CConstants::row).collect(Collectors.joining()) + "\n\n#endif\n";
    }

    private static String row(Constant result) {
        return "\\\n    EACH(" + result.symbol() + ", \"" + result.text() + "\") ";
    }
}

package io.tessera.autotalk.generate;

import io.tessera.autotalk.description.Constants;
import io.tessera.autotalk.description.Constants.Constant;
import io.tessera.autotalk.description.Constants.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Enumerators of the interface as Java: numbers by name, and results as an enumeration too, with their texts. Stateless. */
public final class JavaConstants {
    private static final String PACKAGE = "io.tessera.device";

    private JavaConstants() {
    }

    /** Java sources by path under their root. */
    public static Map<String, String> files(Constants constants) {
        String folder = PACKAGE.replace('.', '/') + "/";
        Map<String, String> files = new TreeMap<>();
        files.put(folder + "CudaError.java", results(constants.of("result")));
        files.put(folder + "CudaResult.java",
                numbers("CudaResult", "Result codes of the driver interface (CUresult), as numbers.", constants.of("result")));
        files.put(folder + "DeviceAttribute.java",
                numbers("DeviceAttribute", "Numbers of CUdevice_attribute (CU_DEVICE_ATTRIBUTE_*).", constants.of("attribute")));
        files.put(folder + "MemoryType.java",
                numbers("MemoryType", "Kinds of memory that a side of a copy can be (CUmemorytype).", constants.of("memorytype")));
        files.put(folder + "CudaEnums.java", enumerations(constants.enumerations()));
        return files;
    }

    private static String results(List<Constant> results) {
        return FileNotice.TEXT + """
                package io.tessera.device;

                import java.util.Map;
                import java.util.function.Function;
                import java.util.stream.Collectors;
                import java.util.stream.Stream;

                /** Result codes of the driver interface (CUresult), with the text that cuGetErrorString gives. */
                public enum CudaError {
                """
                + results.stream().map(result -> "    /** " + result.number() + ". */\n    " + result.name() + "("
                        + result.number() + ", \"" + result.text() + "\")").collect(Collectors.joining(",\n"))
                + """
                ;

                    private static final Map<Integer, CudaError> BY_CODE =
                            Stream.of(values()).collect(Collectors.toMap(CudaError::code, Function.identity()));

                    private final int code;
                    private final String text;

                    CudaError(int code, String text) {
                        this.code = code;
                        this.text = text;
                    }

                    /** The number that a driver entry returns. */
                    public int code() {
                        return code;
                    }

                    /** What cuGetErrorString says. */
                    public String text() {
                        return text;
                    }

                    /** What cuGetErrorName says. */
                    public String symbol() {
                        return this == SUCCESS ? "CUDA_SUCCESS" : "CUDA_ERROR_" + name();
                    }

                    /** The constant of a code, null if there is none. */
                    public static CudaError of(int code) {
                        return BY_CODE.get(code);
                    }
                }
                """;
    }

    private static String enumerations(List<Enumeration> enumerations) {
        StringBuilder text = new StringBuilder(FileNotice.TEXT).append("""
                package io.tessera.device;

                /**
                 * Enumerators and flags of the driver interface, a class for each enumeration. A name lacks the part that all of its class
                 * have in cuda.h.
                 */
                public final class CudaEnums {
                    private CudaEnums() {
                    }
                """);
        for (Enumeration enumeration : enumerations) {
            text.append("\n    /** {@code ").append(enumeration.prefix()).append("*}. */\n    public static final class ")
                    .append(enumeration.name()).append(" {\n");
            for (Constant constant : enumeration.members()) {
                text.append("        /** {@code ").append(constant.symbol()).append("}. */\n        public static final int ")
                        .append(constant.name().substring(enumeration.prefix().length())).append(" = ").append(constant.number())
                        .append(";\n");
            }
            text.append("\n        private ").append(enumeration.name()).append("() {\n        }\n    }\n");
        }
        return text.append("}\n").toString();
    }

    private static String numbers(String type, String purpose, List<Constant> constants) {
        return FileNotice.TEXT + "package " + PACKAGE + ";\n\n/** " + purpose + " */\npublic final class " + type + " {\n"
                + constants.stream().map(constant -> "    /** " + constant.number() + ". */\n    public static final int "
                        + constant.name() + " = " + constant.number() + ";\n").collect(Collectors.joining())
                + "\n    private " + type + "() {\n    }\n}\n";
    }
}

package io.tessera.software.driver.module;

import io.tessera.software.driver.abi.CudaError;
import io.tessera.software.driver.abi.DriverException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Joins PTX (CUlinkState). The result is PTX again, one text with the definitions of all inputs; it can be loaded
 * wherever an image can. Used by one thread at a time, as the driver documents.
 */
public final class PtxLinker {
    /** CU_JIT_INPUT_PTX. */
    private static final int PTX = 1;
    /** CU_JIT_INPUT_FATBINARY. */
    private static final int FAT_BINARY = 2;

    private static final Pattern HEADER = Pattern.compile("(?m)^\\s*\\.(version|target|address_size)\\b[^\\n]*$");
    /** A declaration without a body or a value: what some other input defines. */
    private static final Pattern EXTERNAL = Pattern.compile("\\.extern\\s+\\.(?:func|global|const|shared)\\b[^;{]*;");
    private static final Pattern EXTERNAL_NAME = Pattern.compile("([A-Za-z_$%][\\w$]*)\\s*(?:\\[[^\\]]*\\]\\s*)*;$");
    private static final Pattern EXTERNAL_FUNCTION = Pattern.compile("\\.func\\s*(?:\\([^)]*\\))?\\s*([\\w$]+)");
    private static final Pattern DEFINED = Pattern.compile("\\.visible\\s+\\.(?:func|global|const)\\b([^;{=]*)[;{=]");

    /** What the device itself has (CUDA C++ Programming Guide: formatted output, assertion, dynamic memory). */
    private static final Set<String> DEVICE_FUNCTIONS = Set.of("vprintf", "__assertfail", "malloc", "free");

    private final JitOptions options;
    private final List<String> inputs = new ArrayList<>();
    private final Arena arena = Arena.ofShared();

    /** A linker with options, whose logs stay the program's. */
    public PtxLinker(JitOptions options) {
        this.options = options;
    }

    /** Adds an input in memory. */
    public void add(int type, byte[] image) {
        DriverException.require(type >= 0 && type < 6, CudaError.INVALID_VALUE);
        if (type != PTX && type != FAT_BINARY) {
            options.error("the software GPU links PTX and fat binaries with PTX only");
            throw new DriverException(CudaError.NO_BINARY_FOR_GPU);
        }
        try {
            inputs.add(ModuleLoader.ptxOf(image));
        } catch (DriverException e) {
            options.error(e.getMessage());
            throw e;
        }
    }

    /** Adds an input from a file. */
    public void addFile(int type, String path) {
        add(type, ModuleLoader.readFile(path));
    }

    /** The joined image: bytes that end with a zero, and live until {@link #close}. */
    public MemorySegment complete() {
        DriverException.require(!inputs.isEmpty(), CudaError.INVALID_VALUE);
        for (String input : inputs) {
            Matcher external = EXTERNAL.matcher(input);
            while (external.find()) {
                requireDefined(external.group());
            }
        }
        byte[] text = join().getBytes(StandardCharsets.UTF_8);
        MemorySegment image = arena.allocate(text.length + 1L);
        image.copyFrom(MemorySegment.ofArray(text));
        return image;
    }

    /** Variables may stay undefined here: that of dynamic shared memory is. */
    private void requireDefined(String declaration) {
        String name = nameOf(declaration);
        boolean known = !declaration.contains(".func") || DEVICE_FUNCTIONS.contains(name)
                || inputs.stream().anyMatch(input -> definedBy(input).contains(name));
        if (!known) {
            options.error("undefined reference to '" + name + "'");
            throw new DriverException(CudaError.INVALID_IMAGE, "undefined reference to " + name);
        }
    }

    private String join() {
        StringBuilder header = new StringBuilder();
        StringBuilder declarations = new StringBuilder();
        StringBuilder definitions = new StringBuilder();
        Set<String> defined = new HashSet<>();
        inputs.forEach(input -> defined.addAll(definedBy(input)));
        Set<String> declared = new HashSet<>();
        for (String input : inputs) {
            if (header.isEmpty()) {
                Matcher lines = HEADER.matcher(input);
                while (lines.find()) {
                    header.append(lines.group().strip()).append('\n');
                }
            }
            Matcher external = EXTERNAL.matcher(HEADER.matcher(input).replaceAll(""));
            definitions.append(external.replaceAll(found -> {
                String name = nameOf(found.group());
                // Variables that some input defines need no declaration; functions get one before all uses.
                boolean function = found.group().contains(".func");
                if ((function || !defined.contains(name)) && declared.add(name)) {
                    declarations.append(defined.contains(name)
                            ? found.group().replaceFirst("\\.extern", ".visible") : found.group()).append('\n');
                }
                return "";
            })).append('\n');
        }
        return header.append(declarations).append(definitions).toString();
    }

    private static Set<String> definedBy(String input) {
        Set<String> names = new HashSet<>();
        Matcher found = DEFINED.matcher(input);
        while (found.find()) {
            names.add(nameOf(found.group().substring(0, found.group().length() - 1).strip() + ";"));
        }
        return names;
    }

    private static String nameOf(String declaration) {
        Matcher function = EXTERNAL_FUNCTION.matcher(declaration);
        if (function.find()) {
            return function.group(1);
        }
        Matcher variable = EXTERNAL_NAME.matcher(declaration);
        return variable.find() ? variable.group(1) : declaration;
    }

    /** Frees the joined image. */
    public void close() {
        arena.close();
    }
}

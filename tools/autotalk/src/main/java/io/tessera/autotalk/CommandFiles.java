package io.tessera.autotalk;

import io.tessera.autotalk.Arguments.UsageException;
import io.tessera.autotalk.annotation.AnnotationText;
import io.tessera.autotalk.annotation.Annotations;
import io.tessera.autotalk.annotation.Decisions;
import io.tessera.autotalk.annotation.Serving;
import io.tessera.autotalk.coverage.CoveragePage;
import io.tessera.autotalk.description.Constants;
import io.tessera.autotalk.description.Description;
import io.tessera.autotalk.description.DescriptionDiff;
import io.tessera.autotalk.description.DescriptionText;
import io.tessera.autotalk.generate.CConstants;
import io.tessera.autotalk.generate.Generator;
import io.tessera.autotalk.generate.JavaConstants;
import io.tessera.autotalk.generate.JavaEntries;
import io.tessera.autotalk.header.HeaderReader;
import io.tessera.autotalk.header.LookupVersions;
import io.tessera.autotalk.input.InputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** The files of the commands: reads those named on the command line, and writes the results. Stateless. */
final class CommandFiles {
    /** Options that name the inputs of decisions. */
    static final Set<String> DECISIONS = Set.of("--api", "--annotations", "--relay");
    /** As above, with the place of the output. */
    static final Set<String> DECISIONS_AND_OUT = Set.of("--api", "--annotations", "--relay", "--out");
    static final Set<String> GENERATE = Set.of("--api", "--annotations", "--relay", "--constants", "--out");
    static final Set<String> JAVA = Set.of("--api", "--annotations", "--relay", "--constants", "--out", "--resources");
    private static final String DEFAULT_LIBRARY = "cuda";
    private static final String NAMES_ENDING = ".names";

    private CommandFiles() {
    }

    /** Returns the text of a description read from {@code --header} and {@code --names}. */
    static String describe(Arguments arguments) throws IOException {
        return DescriptionText.write(read(arguments));
    }

    private static Description read(Arguments arguments) throws IOException {
        if (arguments.all("--header").isEmpty() && arguments.all("--names").isEmpty()) {
            throw new UsageException("nothing to read: --header or --names is missing");
        }
        List<HeaderReader.Header> headers = new ArrayList<>();
        for (String header : arguments.all("--header")) {
            headers.add(new HeaderReader.Header(header, text(Path.of(header))));
        }
        Map<String, List<String>> names = new LinkedHashMap<>();
        for (String list : arguments.all("--names")) {
            names.put(Path.of(list).getFileName().toString(), names(list));
        }
        Description read = HeaderReader.read(arguments.last("--library").orElse(DEFAULT_LIBRARY), headers, names);
        StringBuilder typedefs = new StringBuilder();
        for (String file : arguments.all("--versions")) {
            typedefs.append(text(Path.of(file))).append('\n');
        }
        return LookupVersions.read(typedefs.toString()).appliedTo(read);
    }

    private static List<String> names(String list) throws IOException {
        List<String> names = new ArrayList<>();
        int line = 0;
        for (String text : text(Path.of(list)).lines().toList()) {
            line++;
            String name = text.replaceFirst("#.*", "").strip();
            if (!name.matches("[A-Za-z_][A-Za-z0-9_]*|")) {
                throw new InputException(list, line, "'" + name + "' is not a name");
            }
            if (!name.isEmpty()) {
                names.add(name);
            }
        }
        return names;
    }

    /**
     * Reads a description and its annotations, as named by {@code --api}, {@code --annotations} and {@code --relay}. A list of names is a
     * description, too, of the library after which it is named.
     */
    static Decisions decisions(Arguments arguments) throws IOException {
        return decisions(arguments.required("--api"), arguments.required("--annotations"),
                arguments.last("--relay").map(Path::of));
    }

    private static Decisions decisions(Path api, Path annotations, Optional<Path> relay) throws IOException {
        String file = api.getFileName().toString();
        Description description = file.endsWith(NAMES_ENDING)
                ? HeaderReader.read(file.substring(0, file.length() - NAMES_ENDING.length()), List.of(),
                        Map.of(file, names(api.toString())))
                : DescriptionText.read(api.toString(), text(api));
        Annotations<Serving> direct = AnnotationText.read(annotations.toString(), text(annotations));
        return relay.isEmpty() ? new Decisions(description, direct) : new Decisions(description, direct,
                Optional.of(AnnotationText.readRelay(relay.get().toString(), text(relay.get()))));
    }

    /** Reads the pairs of {@code --api} and {@code --annotations}; the first {@code --relay} belongs to the first pair. */
    static List<Decisions> libraries(Arguments arguments) throws IOException {
        List<String> apis = arguments.all("--api");
        List<String> annotations = arguments.all("--annotations");
        if (apis.isEmpty() || apis.size() != annotations.size()) {
            throw new UsageException("--api and --annotations come in pairs");
        }
        List<Decisions> libraries = new ArrayList<>();
        for (int i = 0; i < apis.size(); i++) {
            Optional<Path> relay = i == 0 ? arguments.last("--relay").map(Path::of) : Optional.empty();
            libraries.add(decisions(Path.of(apis.get(i)), Path.of(annotations.get(i)), relay));
        }
        return libraries;
    }

    /** Returns the differences between a description and another one or headers. */
    static String diff(Arguments arguments) throws IOException {
        boolean twoFiles = arguments.words().size() == 2;
        if (arguments.words().isEmpty() || arguments.words().size() > 2 || twoFiles != arguments.values().isEmpty()) {
            throw new UsageException("diff takes OLD.api and NEW.api, or OLD.api and --header");
        }
        Path older = Path.of(arguments.words().getFirst());
        Path newer = Path.of(arguments.words().getLast());
        Description after = twoFiles ? DescriptionText.read(newer.toString(), text(newer)) : read(arguments);
        return DescriptionDiff.between(DescriptionText.read(older.toString(), text(older)), after).text();
    }

    /** Writes the generated files. */
    static void generate(Decisions decisions, Optional<Path> constants, Path directory) throws IOException {
        Files.createDirectories(directory);
        if (constants.isPresent()) {
            write(directory.resolve(CConstants.HEADER), CConstants.text(constants(constants.get())));
        }
        for (Map.Entry<String, String> file : Generator.files(decisions).entrySet()) {
            write(directory.resolve(file.getKey()), file.getValue());
        }
    }

    /** Writes the files generated for Java: sources into one directory, resources into another. */
    static void generateJava(Decisions decisions, Optional<Path> constants, Path sources, Path resources) throws IOException {
        Map<String, String> files = new TreeMap<>(JavaEntries.files(decisions));
        if (constants.isPresent()) {
            files.putAll(JavaConstants.files(constants(constants.get())));
        }
        for (Map.Entry<String, String> file : files.entrySet()) {
            Path target = (file.getKey().endsWith(".java") ? sources : resources).resolve(file.getKey());
            Files.createDirectories(target.getParent());
            write(target, file.getValue());
        }
    }

    private static Constants constants(Path file) throws IOException {
        return Constants.parse(file.toString(), text(file).lines().toList());
    }

    /** Writes the coverage page, or only compares it; returns whether the file is then up to date. */
    static boolean coverage(List<Decisions> libraries, Path page, boolean onlyCheck) throws IOException {
        String text = CoveragePage.text(libraries);
        if (onlyCheck) {
            return Files.exists(page) && Files.readString(page).equals(text);
        }
        write(page, text);
        return true;
    }

    /** Writes a file unless it already has this text, because make compares times of files. */
    static void write(Path file, String text) throws IOException {
        if (!Files.exists(file) || !Files.readString(file).equals(text)) {
            Files.writeString(file, text);
        }
    }

    private static String text(Path file) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new InputException(file.toString(), 0, "there is no such file");
        }
        return Files.readString(file);
    }
}

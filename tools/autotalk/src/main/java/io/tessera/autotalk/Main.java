package io.tessera.autotalk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The command line of Autotalk. Exit codes: 0 done, 1 something is open or out of date, 2 the call is wrong. */
public final class Main {
    private static final String HELP = """
            Autotalk: from a driver header to the code that stands in front of the driver.

            autotalk describe --header cuda.h [--header cudaGL.h ...] [--names FILE] --out cuda.api
                reads headers (through cc -E); --names adds exported names that no header declares
            autotalk describe --names FILE --out nvml.api
                a description of names alone: everything passes
            autotalk diff OLD.api --header cuda.h [--header ...]      or      autotalk diff OLD.api NEW.api
                entries added (+), gone (-) and changed (~); exit code 1 if there are any
            autotalk check --api cuda.api --annotations cuda.annotations [--open]
                entries without a decision, lines that decide nothing; --open lists untyped pointers without an extent
            autotalk generate --api cuda.api --annotations cuda.annotations --out DIR [--library cuda|nvml]
                trampolines, prototypes, wrappers, tables, export list
            autotalk coverage --api cuda.api --annotations cuda.annotations --out COVERAGE.md [--check]
                the published table; --check only compares, exit code 1 if it is out of date

            --cc NAME is the C compiler to use (default cc).

            Examples:
              autotalk describe --header /usr/local/cuda/include/cuda.h --names cuda-580.names --out cuda.api
              autotalk diff native-preload/api/cuda.api --header ~/cuda-13.3/include/cuda.h
            """;

    private final Map<String, List<String>> options = new HashMap<>();
    private final List<String> words = new ArrayList<>();

    private Main() {
    }

    /**
     * Runs one command.
     *
     * @param args see {@code --help}
     */
    public static void main(String[] args) {
        System.exit(run(args));
    }

    static int run(String... args) {
        if (args.length == 0 || List.of(args).contains("--help") || args[0].equals("help")) {
            System.out.print(HELP);
            return args.length == 0 ? 2 : 0;
        }
        try {
            Main main = new Main();
            main.parse(args);
            return main.dispatch(args[0]);
        } catch (AutotalkException e) {
            System.err.println("autotalk: " + e.getMessage());
            return 2;
        }
    }

    private void parse(String[] args) {
        for (int i = 1; i < args.length; i++) {
            if (args[i].equals("--check") || args[i].equals("--open")) {
                options.put(args[i], List.of());
            } else if (args[i].startsWith("--")) {
                if (i + 1 == args.length) {
                    throw new AutotalkException(args[i] + " needs a value; see --help");
                }
                options.computeIfAbsent(args[i], k -> new ArrayList<>()).add(args[++i]);
            } else {
                words.add(args[i]);
            }
        }
    }

    private int dispatch(String command) {
        return switch (command) {
            case "describe" -> describe();
            case "diff" -> diff();
            case "check" -> check();
            case "generate" -> generate();
            case "coverage" -> coverage();
            default -> throw new AutotalkException("no command " + command + "; see --help");
        };
    }

    private String one(String option) {
        return Optional.ofNullable(options.get(option)).map(List::getLast)
                .orElseThrow(() -> new AutotalkException(option + " is missing; see --help"));
    }

    private List<Path> paths(String option) {
        return options.getOrDefault(option, List.of()).stream().map(Path::of).toList();
    }

    private Description readHeaders() {
        List<Path> headers = paths("--header");
        Description read = headers.isEmpty() ? new Description(Map.of(), new TreeMap<>(), new TreeMap<>())
                : new HeaderReader(options.containsKey("--cc") ? one("--cc") : "cc").read(headers);
        TreeMap<String, Entry> entries = new TreeMap<>(read.entries());
        TreeMap<String, String> sources = new TreeMap<>(read.sources());
        for (Path names : paths("--names")) {
            List<String> listed = lines(names);
            sources.put(names.getFileName().toString(), Integer.toString(listed.size()));
            listed.forEach(name -> entries.putIfAbsent(name, new Entry(name, Optional.empty())));
        }
        return new Description(sources, read.values(), entries);
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file).stream().map(String::strip)
                    .filter(l -> !l.isEmpty() && !l.startsWith("#")).toList();
        } catch (IOException e) {
            throw new AutotalkException("cannot read " + file + ": " + e.getMessage(), e);
        }
    }

    private int describe() {
        Description description = readHeaders();
        if (description.entries().isEmpty()) {
            throw new AutotalkException("describe needs --header or --names; see --help");
        }
        write(Path.of(one("--out")), description.text());
        System.out.println(description.entries().size() + " entries, "
                + description.entries().values().stream().filter(e -> e.parameters().isEmpty()).count()
                + " of them in no header");
        return 0;
    }

    private int diff() {
        if (words.isEmpty()) {
            throw new AutotalkException("diff needs a description; see --help");
        }
        Description before = Description.read(Path.of(words.getFirst()));
        Description after = words.size() > 1 ? Description.read(Path.of(words.get(1))) : readHeaders();
        List<String> lines = DescriptionDiff.lines(before, after);
        lines.forEach(System.out::println);
        return lines.isEmpty() ? 0 : 1;
    }

    private int check() {
        Description description = Description.read(Path.of(one("--api")));
        Annotations annotations = Annotations.read(Path.of(one("--annotations")));
        List<String> problems = annotations.problems(description);
        problems.forEach(System.out::println);
        List<String> open = annotations.open(description);
        if (options.containsKey("--open")) {
            open.forEach(System.out::println);
        }
        System.out.println(description.entries().size() + " entries, " + problems.size() + " problems, " + open.size()
                + " untyped pointers without an extent (needed once their calls are relayed)");
        return problems.isEmpty() ? 0 : 1;
    }

    private int generate() {
        Library library = Library.named(options.containsKey("--library") ? one("--library") : "cuda");
        Description description = Description.read(Path.of(one("--api")));
        List<Served> served = Served.all(description, Annotations.read(Path.of(one("--annotations"))));
        Path out = Path.of(one("--out"));
        String header = library == Library.CUDA ? "tessera_entries.h" : "nvml_entries.h";
        write(out.resolve(header), EntryHeader.text(description, served, library));
        write(out.resolve(library.files() + "trampolines.S"), Trampolines.text(served, library));
        write(out.resolve(library.files() + "entry_names.c"), Tables.names(served, library));
        write(out.resolve(library.files() + "exports.map"), Tables.exports(served, library));
        if (library == Library.CUDA) {
            write(out.resolve("submit.c"), Wrappers.text(served));
            write(out.resolve("hooked_entries.c"), Tables.hooks(served));
        }
        return 0;
    }

    private int coverage() {
        Description description = Description.read(Path.of(one("--api")));
        List<Served> served = Served.all(description, Annotations.read(Path.of(one("--annotations"))));
        Path out = Path.of(one("--out"));
        String text = Coverage.text(description, served);
        if (!options.containsKey("--check")) {
            write(out, text);
            return 0;
        }
        boolean same = Files.exists(out) && read(out).equals(text);
        if (!same) {
            System.err.println("autotalk: " + out + " is out of date: run autotalk coverage");
        }
        return same ? 0 : 1;
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new AutotalkException("cannot read " + file + ": " + e.getMessage(), e);
        }
    }

    /** Leaves an unchanged file alone, so that make sees nothing to do. */
    private static void write(Path file, String text) {
        try {
            if (Files.exists(file) && Files.readString(file).equals(text)) {
                return;
            }
            Path parent = file.toAbsolutePath().getParent();
            Files.createDirectories(parent);
            Path fresh = Files.createTempFile(parent, ".autotalk", "");
            Files.writeString(fresh, text);
            Files.setPosixFilePermissions(fresh, java.nio.file.attribute.PosixFilePermissions.fromString("rw-r--r--"));
            Files.move(fresh, file, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new AutotalkException("cannot write " + file + ": " + e.getMessage(), e);
        }
    }
}

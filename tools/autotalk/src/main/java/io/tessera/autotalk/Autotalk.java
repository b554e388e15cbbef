package io.tessera.autotalk;

import io.tessera.autotalk.Arguments.UsageException;
import io.tessera.autotalk.annotation.Decisions;
import io.tessera.autotalk.marshal.Structures;

import io.tessera.autotalk.input.InputException;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * The command line: {@code autotalk describe | check | diff | generate | java | coverage}.
 *
 * <p>Exit codes: 0 done; 1 the answer is no (gaps, differences, a page out of date); 2 the command or an input file is
 * wrong. Messages about a file start with {@code file:line:}.
 */
public final class Autotalk {
    private static final int DONE = 0;
    private static final int NO = 1;
    private static final int WRONG = 2;

    private static final String HELP = """
            autotalk: from a driver's headers to the C side of Tessera's preload library

            autotalk describe --out FILE [--library NAME] [--header FILE]... [--names FILE]... [--versions FILE]...
                Reads headers, in the order in which a program includes them, and lists of exported names (one a line)
                into a description. The library is 'cuda' unless named. --versions: headers whose function types tell
                since which version a name means which entry (cudaTypedefs.h).
                  autotalk describe --header cuda.h --header cudaGL.h --names cuda-580.names --out cuda.api

            Wherever --api stands below, a list NAME.names will do for a library of which only names are known.

            A library with a relay port has --relay FILE beside its annotations in all commands below.

            autotalk check --api FILE --annotations FILE [--relay FILE] [--extents]
                Says which entries have no decision yet, and which annotations contradict or match nothing. With
                --extents also the buffers whose length no annotation gives, which relayed calls will need.
                  autotalk check --api cuda.api --annotations cuda.annotations

            autotalk diff OLD.api NEW.api
            autotalk diff OLD.api --header FILE [--header FILE]... [--names FILE]...
                Shows entries added (+), removed (-) and changed (~) in another description, or in headers.
                  autotalk diff cuda.api --header other/cuda.h

            autotalk generate --api FILE --annotations FILE [--constants FILE] --out DIR
                Writes entries header, trampolines, wrappers, tables and export list into DIR. Files that are already
                as they should be are not touched. --constants: enumerators (results, attributes and others) that
                become a header, too.
                  autotalk generate --api cuda.api --annotations cuda.annotations --out target/generated

            autotalk java --api FILE --annotations FILE [--constants FILE] --out DIR [--resources DIR]
                Writes the enumeration of entries as Java source into DIR, and what each entry takes as a resource
                into the directory for resources, which is DIR unless named. --constants: enumerators (results,
                attributes, kinds of memory and others) that become Java sources too.
                  autotalk java --api cuda.api --annotations cuda.annotations --out target/generated-sources

            autotalk coverage --api FILE --annotations FILE [--api ... --annotations ...] --out FILE [--check]
                Writes the coverage page; with --check only says whether it is up to date. Several libraries are given
                as several pairs.
                  autotalk coverage --api cuda.api --annotations cuda.annotations --out COVERAGE.md --check

            Exit codes: 0 done, 1 the answer is no, 2 wrong usage or input.
            """;

    private final PrintStream out;
    private final PrintStream err;

    private Autotalk(PrintStream out, PrintStream err) {
        this.out = out;
        this.err = err;
    }

    /** Runs a command and exits with its code. */
    public static void main(String[] arguments) {
        System.exit(run(Arrays.asList(arguments), System.out, System.err));
    }

    /**
     * Runs a command.
     *
     * @param arguments the command and its arguments
     * @param out       for results
     * @param err       for messages
     * @return the exit code
     */
    public static int run(List<String> arguments, PrintStream out, PrintStream err) {
        return new Autotalk(out, err).run(arguments);
    }

    private int run(List<String> arguments) {
        if (arguments.isEmpty() || arguments.contains("--help") || arguments.getFirst().equals("help")) {
            (arguments.isEmpty() ? err : out).print(HELP);
            return arguments.isEmpty() ? WRONG : DONE;
        }
        List<String> rest = arguments.subList(1, arguments.size());
        try {
            return switch (arguments.getFirst()) {
                case "describe" -> describe(rest);
                case "check" -> check(rest);
                case "diff" -> diff(rest);
                case "generate" -> generate(rest);
                case "java" -> java(rest);
                case "coverage" -> coverage(rest);
                default -> throw new UsageException("unknown command '" + arguments.getFirst() + "'");
            };
        } catch (UsageException e) {
            err.println("autotalk: " + e.getMessage() + "; 'autotalk --help' shows how");
            return WRONG;
        } catch (InputException e) {
            err.println(e.getMessage());
            return WRONG;
        } catch (IOException e) {
            err.println("autotalk: " + e.getClass().getSimpleName() + ": " + e.getMessage());
            return WRONG;
        }
    }

    private int describe(List<String> rest) throws IOException {
        Arguments arguments = Arguments.parse(rest, Set.of("--library", "--header", "--names", "--versions", "--out"),
                Set.of());
        arguments.noWords();
        CommandFiles.write(arguments.required("--out"), CommandFiles.describe(arguments));
        return DONE;
    }

    private int check(List<String> rest) throws IOException {
        Arguments arguments = Arguments.parse(rest, CommandFiles.DECISIONS, Set.of("--extents"));
        arguments.noWords();
        Decisions decisions = CommandFiles.decisions(arguments);
        decisions.problems().forEach(out::println);
        List<String> structures = new Structures(decisions, decisions.structures()).problems();
        structures.forEach(out::println);
        List<String> unknown = arguments.switches().contains("--extents") ? decisions.unknownExtents() : List.of();
        unknown.forEach(parameter -> out.println(parameter + " has no extent"));
        return decisions.problems().isEmpty() && structures.isEmpty() && unknown.isEmpty() ? DONE : NO;
    }

    private int diff(List<String> rest) throws IOException {
        Arguments arguments = Arguments.parse(rest, Set.of("--library", "--header", "--names", "--versions"), Set.of());
        String text = CommandFiles.diff(arguments);
        out.print(text);
        return text.isEmpty() ? DONE : NO;
    }

    private int generate(List<String> rest) throws IOException {
        Arguments arguments = Arguments.parse(rest, CommandFiles.GENERATE, Set.of());
        arguments.noWords();
        Decisions decisions = CommandFiles.decisions(arguments);
        if (refused(decisions)) {
            return NO;
        }
        CommandFiles.generate(decisions, arguments.last("--constants").map(Path::of), arguments.required("--out"));
        return DONE;
    }

    private int java(List<String> rest) throws IOException {
        Arguments arguments = Arguments.parse(rest, CommandFiles.JAVA, Set.of());
        arguments.noWords();
        Decisions decisions = CommandFiles.decisions(arguments);
        if (refused(decisions)) {
            return NO;
        }
        CommandFiles.generateJava(decisions, arguments.last("--constants").map(Path::of), arguments.required("--out"),
                arguments.last("--resources").map(Path::of).orElse(arguments.required("--out")));
        return DONE;
    }

    private int coverage(List<String> rest) throws IOException {
        Arguments arguments = Arguments.parse(rest, CommandFiles.DECISIONS_AND_OUT, Set.of("--check"));
        arguments.noWords();
        List<Decisions> libraries = CommandFiles.libraries(arguments);
        if (libraries.stream().anyMatch(this::refused)) {
            return NO;
        }
        boolean current = CommandFiles.coverage(libraries, arguments.required("--out"),
                arguments.switches().contains("--check"));
        if (!current) {
            err.println(arguments.required("--out") + ": out of date; 'autotalk coverage' without --check writes it");
        }
        return current ? DONE : NO;
    }

    private boolean refused(Decisions decisions) {
        List<String> problems = new ArrayList<>(decisions.problems());
        problems.addAll(new Structures(decisions, decisions.structures()).problems());
        problems.forEach(err::println);
        return !problems.isEmpty();
    }
}

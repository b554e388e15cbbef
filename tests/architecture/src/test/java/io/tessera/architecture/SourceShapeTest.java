package io.tessera.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Sizes and completeness of the sources: numbers of CONTRIBUTING.md, package-info.java in every package, and sentences with a subject. */
@Timeout(300)
class SourceShapeTest {
    private static final int FILE_LINES = 400;
    private static final int FUNCTION_LINES = 60;

    private static String name(Path file) {
        return SourceTree.root().relativize(file).toString();
    }

    private static List<Path> of(Language language) throws IOException {
        return SourceTree.files().stream().filter(file -> Language.of(file) == language).toList();
    }

    @Test
    void everyLanguageIsSeen() throws IOException {
        for (Language language : List.of(Language.JAVA, Language.C, Language.HASH)) {
            assertTrue(!of(language).isEmpty(), "no source in " + language);
        }
    }

    @Test
    void filesAreShort() throws IOException {
        List<String> tooLong = new ArrayList<>();
        for (Path file : SourceTree.files()) {
            long lines = Language.of(file).linesOfCode(SourceTree.lines(file));
            if (lines > FILE_LINES) {
                tooLong.add(name(file) + ": " + lines + " lines of code");
            }
        }
        assertEquals(List.of(), tooLong, "files over " + FILE_LINES + " lines of code");
    }

    @Test
    void javaMethodsAreShort() throws IOException {
        List<String> tooLong = new ArrayList<>();
        for (JavaMethods.Method method : JavaMethods.of(of(Language.JAVA))) {
            if (method.linesOfCode() > FUNCTION_LINES) {
                tooLong.add(name(method.file()) + ", " + method.name() + ": " + method.linesOfCode() + " lines");
            }
        }
        assertEquals(List.of(), tooLong, "methods over " + FUNCTION_LINES + " lines of code");
    }

    /** In our C a function's braces, and those of types and tables, stand alone in the first column. */
    @Test
    void cFunctionsAreShort() throws IOException {
        List<String> tooLong = new ArrayList<>();
        for (Path file : of(Language.C)) {
            List<String> lines = SourceTree.lines(file);
            int begin = -1;
            for (int i = 0; i < lines.size(); i++) {
                if (lines.get(i).equals("{")) {
                    begin = i;
                } else if (lines.get(i).equals("}") && begin >= 0) {
                    long code = Language.C.linesOfCode(lines.subList(begin + 1, i));
                    if (code > FUNCTION_LINES) {
                        tooLong.add(name(file) + ":" + (begin + 1) + ": " + code + " lines");
                    }
                    begin = -1;
                }
            }
        }
        assertEquals(List.of(), tooLong, "functions over " + FUNCTION_LINES + " lines of code");
    }

    @Test
    void everyPackageSaysWhatItIsFor() throws IOException {
        Set<Path> packages = of(Language.JAVA).stream()
                .filter(file -> name(file).contains("src/main/java/"))
                .map(Path::getParent).collect(Collectors.toCollection(TreeSet::new));
        assertTrue(packages.size() > 5, "only " + packages.size() + " packages");
        assertEquals(List.of(), packages.stream().filter(p -> !Files.exists(p.resolve("package-info.java")))
                .map(SourceShapeTest::name).toList(), "packages without package-info.java");
    }

    @Test
    void everyPublicTypeAndMethodIsDescribed() throws IOException {
        List<Path> production = of(Language.JAVA).stream()
                .filter(file -> name(file).contains("src/main/java/")).toList();
        List<String> silent = JavaMethods.withoutJavadoc(production).stream()
                .map(element -> name(element.file()) + ", " + element.name()).toList();
        assertEquals(List.of(), silent, "public types and methods without Javadoc");
    }

    /** "A client that waits is served", and not "Who waits is served". */
    @Test
    void sentencesHaveASubject() throws IOException {
        List<String> headless = new ArrayList<>();
        for (Path file : SourceTree.files()) {
            Prose.headless(Language.of(file), SourceTree.lines(file)).forEach(sentence -> headless.add(name(file) + ": " + sentence));
        }
        List<Path> documents = Prose.documents();
        assertTrue(documents.size() > 20, "only " + documents.size() + " documents");
        for (Path file : documents) {
            Prose.headless(SourceTree.lines(file)).forEach(sentence -> headless.add(name(file) + ": " + sentence));
        }
        assertEquals(List.of(), headless, "sentences without a subject: name the client, tenant, thread, process or caller");
    }

    @Test
    void aSentenceWithoutASubjectIsSeen() {
        assertEquals(List.of("Who waits is let in."), Prose.headless(Language.JAVA,
                List.of("/**", " * A gate. Who waits", " * is let in.", " */", "int who; // a client who waits", "/** Who waits? */")));
        assertEquals(List.of("Whoever ends it frees it."), Prose.headless(Language.C, List.of("int a; /" + "* Whoever ends it frees it. */")));
        assertEquals(List.of("Who asks waits"), Prose.headless(Language.HASH, List.of("#!/bin/sh", "# Who asks waits", "echo")));
        assertEquals(List.of("Who is next |", "Whose turn it is"), Prose.headless(List.of("| policy | Who is next |",
                "- Whose turn it is", "The user who asks. Who is it?")));
    }

    @Test
    void theTopLevelOfTheTreeIsFixed() throws IOException {
        Set<String> allowed = Set.of("pom.xml", "native-preload", "java-agent", "manager-daemon", "unified-memory",
                "guardian-allocator", "tools", "tests", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "LICENSE", "target");
        try (var entries = Files.list(SourceTree.root())) {
            assertEquals(List.of(), entries.map(e -> e.getFileName().toString())
                    .filter(n -> !n.startsWith(".") && !allowed.contains(n)).toList());
        }
    }

    @Test
    void linesOfCodeAreCounted() {
        assertEquals(3, Language.JAVA.linesOfCode(List.of("/*", " * text", " */ int a;", "", "// note", "int b; // x",
                "/** doc */", "/* x */ int c;")));
        assertEquals(2, Language.HASH.linesOfCode(List.of("#!/bin/sh", "# note", "", "a=1 # x", "  b=2")));
    }
}

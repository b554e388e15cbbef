package io.tessera.architecture;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sentences of comments and documents. Stateless. */
final class Prose {
    /** Where a sentence, a cell of a table or an item of a list begins. */
    private static final String BEGIN = "(?:^|[.!?] |\\| |- |\\*\\*)";
    private static final Pattern HEADLESS = Pattern.compile(BEGIN + "((?:Who|Whoever|Whom|Whose) [^.!?|]*+[.!?|]?)");
    private static final Pattern MARKER = Pattern.compile("^(?:/\\*+|\\*/|\\*|//|#+)\\s*|\\s*\\*/$");
    /** Where a comment begins behind code. */
    private static final Pattern BEHIND_CODE = Pattern.compile("\\s(?:/\\*|//)\\s+(.*?)(?:\\s*\\*/)?$");
    /** Begins a paragraph of its own. */
    private static final Pattern APART = Pattern.compile("^(?:<p>|<li>|@|[-|] )");

    private Prose() {
    }

    /** Every Markdown document of the tree, but for what a build or a tool left there. */
    static List<Path> documents() throws IOException {
        List<Path> documents = new ArrayList<>();
        Files.walkFileTree(SourceTree.root(), new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                String name = folder.getFileName().toString();
                boolean ours = folder.equals(SourceTree.root()) || !name.startsWith(".") && !name.equals("target") && !name.equals("node_modules");
                return ours ? FileVisitResult.CONTINUE : FileVisitResult.SKIP_SUBTREE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (file.toString().endsWith(".md")) {
                    documents.add(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return documents;
    }

    /** Sentences in the comments of a source that begin with "Who" and are no questions: they lack a subject. */
    static List<String> headless(Language language, List<String> lines) {
        List<String> paragraphs = new ArrayList<>();
        StringBuilder paragraph = new StringBuilder();
        for (String line : lines) {
            String text = line.strip();
            boolean comment = language == Language.HASH ? text.startsWith("#") && !text.startsWith("#!") : text.matches("(?s)(?:/\\*|\\*|//).*");
            Matcher behind = BEHIND_CODE.matcher(text);
            if (comment) {
                add(MARKER.matcher(text).replaceAll(""), paragraph, paragraphs);
            } else {
                add("", paragraph, paragraphs);
                if (language != Language.HASH && behind.find()) {
                    paragraphs.add(behind.group(1));
                }
            }
        }
        add("", paragraph, paragraphs);
        return headless(paragraphs);
    }

    /** The same for the lines of a Markdown document. */
    static List<String> headless(List<String> lines) {
        List<String> found = new ArrayList<>();
        for (String line : lines) {
            Matcher sentences = HEADLESS.matcher(line);
            while (sentences.find()) {
                if (!sentences.group(1).endsWith("?")) {
                    found.add(sentences.group(1));
                }
            }
        }
        return found;
    }

    private static void add(String text, StringBuilder paragraph, List<String> paragraphs) {
        if (text.isEmpty() || APART.matcher(text).find()) {
            paragraphs.add(paragraph.toString());
            paragraph.setLength(0);
        }
        paragraph.append(paragraph.isEmpty() ? "" : " ").append(text.replaceFirst("^<(?:p|li)>", ""));
    }
}

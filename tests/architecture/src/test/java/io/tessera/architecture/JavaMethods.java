package io.tessera.architecture;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.LineMap;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ModifiersTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import javax.lang.model.element.Modifier;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** What the compiler's parser sees in Java sources: methods with their lengths, public elements without Javadoc. */
final class JavaMethods {
    /** A method or constructor with its lines of code, from its first line to its last. */
    record Method(Path file, String name, long linesOfCode) {
    }

    /** A public type or method. */
    record Element(Path file, String name) {
    }

    private JavaMethods() {
    }

    /** Every method and constructor of the files. */
    static List<Method> of(List<Path> files) throws IOException {
        List<Method> methods = new ArrayList<>();
        scan(files, (trees, file) -> new TreePathScanner<Void, Void>() {
            @Override
            public Void visitMethod(MethodTree method, Void unused) {
                CompilationUnitTree unit = getCurrentPath().getCompilationUnit();
                SourcePositions positions = trees.getSourcePositions();
                LineMap lines = unit.getLineMap();
                long end = positions.getEndPosition(unit, method);
                // A record's implicit constructor has no end in the source.
                if (end >= 0) {
                    int first = (int) lines.getLineNumber(positions.getStartPosition(unit, method));
                    int last = (int) lines.getLineNumber(end);
                    methods.add(new Method(file, method.getName().toString(),
                            Language.JAVA.linesOfCode(SourceTree.lines(file).subList(first - 1, last))));
                }
                return super.visitMethod(method, unused);
            }
        });
        return methods;
    }

    /** Public types, and public methods that override nothing, without a documentation comment. */
    static List<Element> withoutJavadoc(List<Path> files) throws IOException {
        List<Element> silent = new ArrayList<>();
        scan(files, (trees, file) -> new TreePathScanner<Void, Void>() {
            @Override
            public Void visitClass(ClassTree type, Void unused) {
                check(type.getModifiers(), type.getSimpleName().toString());
                return super.visitClass(type, unused);
            }

            @Override
            public Void visitMethod(MethodTree method, Void unused) {
                check(method.getModifiers(), method.getName().toString());
                return super.visitMethod(method, unused);
            }

            private void check(ModifiersTree modifiers, String name) {
                boolean overrides = modifiers.getAnnotations().stream()
                        .anyMatch(a -> a.getAnnotationType().toString().equals("Override"));
                boolean implicit = trees.getSourcePositions().getEndPosition(
                        getCurrentPath().getCompilationUnit(), getCurrentPath().getLeaf()) < 0;
                if (modifiers.getFlags().contains(Modifier.PUBLIC) && !overrides && !implicit && !inAnonymousType()
                        && trees.getDocComment(getCurrentPath()) == null) {
                    silent.add(new Element(file, name));
                }
            }

            private boolean inAnonymousType() {
                for (Tree tree : getCurrentPath().getParentPath()) {
                    if (tree instanceof ClassTree type && type.getSimpleName().isEmpty()) {
                        return true;
                    }
                }
                return false;
            }
        });
        return silent;
    }

    private static void scan(List<Path> files, BiFunction<Trees, Path, TreePathScanner<Void, Void>> scanner)
            throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            JavacTask task = (JavacTask) compiler.getTask(null, manager, null, List.of("-proc:none"), null,
                    manager.getJavaFileObjectsFromPaths(files));
            Trees trees = Trees.instance(task);
            for (CompilationUnitTree unit : task.parse()) {
                scanner.apply(trees, Path.of(unit.getSourceFile().toUri())).scan(unit, null);
            }
        }
    }
}

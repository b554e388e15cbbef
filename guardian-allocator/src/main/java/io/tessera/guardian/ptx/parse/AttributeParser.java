package io.tessera.guardian.ptx.parse;

import io.tessera.guardian.ptx.FunctionAttribute;
import io.tessera.guardian.ptx.parse.Lexer.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Reads the directives between a function's head and its body (PTX ISA, "Performance-Tuning Directives", "ABI"). */
final class AttributeParser {
    private static final Set<String> FLAGS = Set.of("noreturn", "blocksareclusters", "explicitcluster", "unified");
    private static final Set<String> NUMBERED = Set.of("maxnreg", "maxntid", "reqntid", "minnctapersm",
            "maxnctapersm", "reqnctapercluster", "maxclusterrank", "abi_preserve", "abi_preserve_control");

    /** Words that begin a directive of the module. */
    private static final Set<String> NEXT = Set.of("visible", "extern", "weak", "common", "entry", "func", "global", "const", "shared", "file",
            "section");

    private final Tokens tokens;

    AttributeParser(Tokens tokens) {
        this.tokens = tokens;
    }

    /** All that stand here, up to the body, the semicolon or what comes next in the module. */
    List<FunctionAttribute> attributes() throws PtxException {
        List<FunctionAttribute> found = new ArrayList<>(2);
        while (tokens.kind() == Kind.DOTTED) {
            String name = tokens.word();
            if (FLAGS.contains(name)) {
                tokens.advance();
                found.add(new FunctionAttribute(name, List.of(), List.of()));
            } else if (NUMBERED.contains(name)) {
                tokens.advance();
                found.add(new FunctionAttribute(name, numbers(), List.of()));
            } else if (name.equals("pragma")) {
                tokens.advance();
                found.add(new FunctionAttribute(name, List.of(), strings()));
            } else if (NEXT.contains(name)) {
                return found;
            } else {
                throw tokens.error("unknown directive '." + name + "' of a function");
            }
        }
        return found;
    }

    /** Behind a declaration: its semicolon, which text of PTX ISA 2 leaves out and NVIDIA's assembler does not miss. */
    void endDeclaration() throws PtxException {
        if (tokens.kind() != Kind.DOTTED) {
            tokens.expect(';');
        }
    }

    private List<Long> numbers() throws PtxException {
        List<Long> numbers = new ArrayList<>(3);
        do {
            numbers.add(tokens.integer("a number", Integer.MAX_VALUE));
        } while (tokens.accept(','));
        return numbers;
    }

    private List<String> strings() throws PtxException {
        List<String> strings = new ArrayList<>(1);
        do {
            strings.add(tokens.string("a pragma's string"));
        } while (tokens.accept(','));
        tokens.expect(';');
        return strings;
    }
}

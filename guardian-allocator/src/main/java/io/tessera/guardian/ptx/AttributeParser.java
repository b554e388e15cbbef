package io.tessera.guardian.ptx;

import io.tessera.guardian.ptx.Lexer.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Reads the directives between a function's head and its body (PTX ISA, "Performance-Tuning Directives", "ABI"). */
final class AttributeParser {
    private static final Set<String> FLAGS = Set.of("noreturn", "blocksareclusters", "explicitcluster", "unified");
    private static final Set<String> NUMBERED = Set.of("maxnreg", "maxntid", "reqntid", "minnctapersm",
            "maxnctapersm", "reqnctapercluster", "maxclusterrank", "abi_preserve", "abi_preserve_control");

    private final Tokens tokens;

    AttributeParser(Tokens tokens) {
        this.tokens = tokens;
    }

    /** All that stand here. */
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
            } else {
                throw tokens.error("unknown directive '." + name + "' of a function");
            }
        }
        return found;
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

package io.tessera.guardian.ptx.parse;

import io.tessera.guardian.ptx.FileEntry;
import io.tessera.guardian.ptx.Location;
import io.tessera.guardian.ptx.Pragma;
import io.tessera.guardian.ptx.Section;
import io.tessera.guardian.ptx.parse.Lexer.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads what debuggers and assemblers want: {@code .loc}, {@code .file}, {@code .section}, {@code .pragma}. */
final class LineParser {
    private final Tokens tokens;
    private final ConstantExpression constants;

    LineParser(Tokens tokens, ConstantExpression constants) {
        this.tokens = tokens;
        this.constants = constants;
    }

    Location location() throws PtxException {
        int line = tokens.line();
        tokens.advance();
        int file = number("a file's number");
        int sourceLine = number("a line");
        int column = number("a column");
        Optional<Location.Inlined> inlined = Optional.empty();
        if (tokens.accept(',')) {
            word("function_name");
            String function = tokens.name("a label");
            long offset = constants.offset();
            tokens.expect(',');
            word("inlined_at");
            inlined = Optional.of(new Location.Inlined(function, offset, number("a file's number"), number("a line"),
                    number("a column")));
        }
        return new Location(file, sourceLine, column, inlined, line);
    }

    private int number(String what) throws PtxException {
        return (int) tokens.integer(what, Integer.MAX_VALUE);
    }

    private void word(String expected) throws PtxException {
        if (tokens.kind() != Kind.NAME || !tokens.word().equals(expected)) {
            throw tokens.error("expected '" + expected + "', found " + tokens.shown());
        }
        tokens.advance();
    }

    FileEntry file() throws PtxException {
        int line = tokens.line();
        tokens.advance();
        int index = number("a file's number");
        String name = tokens.string("a file's name");
        long timestamp = -1;
        long size = -1;
        if (tokens.accept(',')) {
            timestamp = tokens.integer("a timestamp", Long.MAX_VALUE);
            tokens.expect(',');
            size = tokens.integer("a size", Long.MAX_VALUE);
        }
        return new FileEntry(index, name, timestamp, size, line);
    }

    Pragma pragma() throws PtxException {
        int line = tokens.line();
        tokens.advance();
        List<String> values = new ArrayList<>(1);
        do {
            values.add(tokens.string("a pragma's string"));
        } while (tokens.accept(','));
        tokens.expect(';');
        return new Pragma(values, line);
    }

    Section section() throws PtxException {
        int line = tokens.line();
        tokens.advance();
        String name = "." + tokens.dotted("a section's name");
        tokens.expect('{');
        List<String> lines = new ArrayList<>();
        while (!tokens.accept('}')) {
            lines.add(tokens.kind() == Kind.NAME ? sectionLabel() : sectionData());
        }
        return new Section(name, lines, line);
    }

    private String sectionLabel() throws PtxException {
        String label = tokens.name("a label");
        tokens.expect(':');
        return label + ":";
    }

    private String sectionData() throws PtxException {
        StringBuilder data = new StringBuilder(".").append(tokens.dotted("data")).append(' ');
        data.append(sectionValue());
        while (tokens.at(',') || tokens.at('+') || tokens.at('-')) {
            data.append((char) tokens.punctuation());
            tokens.advance();
            data.append(sectionValue());
        }
        return data.toString();
    }

    private String sectionValue() throws PtxException {
        boolean minus = tokens.accept('-');
        String value = switch (tokens.kind()) {
            case NAME, DOTTED, INTEGER -> tokens.source();
            default -> throw tokens.error("expected a number or a label, found " + tokens.shown());
        };
        tokens.advance();
        return minus ? "-" + value : value;
    }
}

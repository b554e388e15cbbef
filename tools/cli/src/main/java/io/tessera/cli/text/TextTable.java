package io.tessera.cli.text;

import io.tessera.protocol.message.EscapedText;
import java.util.ArrayList;
import java.util.List;

/**
 * A table whose columns line up: numbers to the right, words to the left, two blanks between columns, none at the end
 * of a line. Emphasis does not count for the width. Not thread-safe.
 */
public final class TextTable {
    private static final String GAP = "  ";

    /** Alignment of a column. */
    public enum Side {
        LEFT, RIGHT
    }

    /**
     * One field of a row.
     *
     * @param text     its text; control characters, which may come from other programs, are escaped
     * @param emphasis its emphasis
     */
    public record Cell(String text, Style.Emphasis emphasis) {
        /** Escapes control characters in the text. */
        public Cell {
            text = printable(text);
        }

        /** Returns a cell without emphasis. */
        public static Cell of(String text) {
            return new Cell(text, Style.Emphasis.NONE);
        }
    }

    private final List<Side> sides = new ArrayList<>();
    private final List<Cell> header = new ArrayList<>();
    private final List<List<Cell>> rows = new ArrayList<>();

    /** Returns the text with every control character escaped, {@code \\x1b} for example, so that no label can control a terminal. */
    public static String printable(String text) {
        return EscapedText.of(text);
    }

    /** Adds a column to the right, before the first row. */
    public TextTable column(String title, Side side) {
        if (!rows.isEmpty()) {
            throw new IllegalStateException("columns come before rows");
        }
        header.add(new Cell(title, Style.Emphasis.HEADING));
        sides.add(side);
        return this;
    }

    /** Adds a row with a cell for each column. */
    public void row(List<Cell> cells) {
        if (cells.size() != header.size()) {
            throw new IllegalArgumentException(cells.size() + " cells for " + header.size() + " columns");
        }
        rows.add(List.copyOf(cells));
    }

    /** Returns the lines, header first; each begins with the indent. */
    public List<String> lines(String indent, Style style) {
        int[] widths = new int[header.size()];
        List<List<Cell>> all = new ArrayList<>();
        all.add(header);
        all.addAll(rows);
        for (List<Cell> row : all) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], width(row.get(i)));
            }
        }
        return all.stream().map(row -> line(indent, style, widths, row)).toList();
    }

    private String line(String indent, Style style, int[] widths, List<Cell> row) {
        StringBuilder line = new StringBuilder(indent);
        for (int i = 0; i < widths.length; i++) {
            Cell cell = row.get(i);
            String padding = " ".repeat(widths[i] - width(cell));
            String text = cell.text().isEmpty() ? "" : style.apply(cell.emphasis(), cell.text());
            boolean last = i == widths.length - 1;
            line.append(i == 0 ? "" : GAP);
            if (sides.get(i) == Side.RIGHT) {
                line.append(padding).append(text);
            } else {
                line.append(text).append(last ? "" : padding);
            }
        }
        return line.toString().stripTrailing();
    }

    private static int width(Cell cell) {
        return cell.text().codePointCount(0, cell.text().length());
    }
}

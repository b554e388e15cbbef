package io.tessera.autotalk.header;

import java.util.ArrayList;
import java.util.List;

/**
 * A line of a header after comments became blanks and continued lines were joined (translation phases 2 and 3).
 *
 * @param number line of the header at which it starts, from 1
 * @param text   its text, without line end
 */
record LogicalLine(int number, String text) {

    /** Splits a header into logical lines. A comment over several lines joins them, as in C. */
    static List<LogicalLine> split(String source) {
        List<LogicalLine> lines = new ArrayList<>();
        StringBuilder text = new StringBuilder();
        int line = 1;
        int start = 1;
        int at = 0;
        while (at < source.length()) {
            char c = source.charAt(at);
            char next = at + 1 < source.length() ? source.charAt(at + 1) : '\0';
            if (c == '\\' && (next == '\n' || next == '\r')) {
                at = source.indexOf('\n', at) + 1;
                line++;
            } else if (c == '/' && next == '*') {
                int end = source.indexOf("*/", at + 2);
                int stop = end < 0 ? source.length() : end + 2;
                line += (int) source.substring(at, stop).chars().filter(x -> x == '\n').count();
                text.append(' ');
                at = stop;
            } else if (c == '/' && next == '/') {
                int end = source.indexOf('\n', at);
                at = end < 0 ? source.length() : end;
            } else if (c == '"' || c == '\'') {
                int end = quotedEnd(source, at);
                text.append(source, at, end);
                at = end;
            } else if (c == '\n') {
                lines.add(new LogicalLine(start, text.toString()));
                text.setLength(0);
                at++;
                start = ++line;
            } else {
                text.append(c == '\r' ? ' ' : c);
                at++;
            }
        }
        lines.add(new LogicalLine(start, text.toString()));
        return lines;
    }

    /** Returns the position after a string or character constant, or the end of its line if it is not closed. */
    private static int quotedEnd(String source, int at) {
        char quote = source.charAt(at);
        int end = at + 1;
        while (end < source.length() && source.charAt(end) != '\n') {
            char c = source.charAt(end);
            if (c == quote) {
                return end + 1;
            }
            end += c == '\\' && end + 1 < source.length() && source.charAt(end + 1) != '\n' ? 2 : 1;
        }
        return end;
    }
}

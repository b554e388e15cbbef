package io.tessera.guardian.ptx.parse;

import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.parse.Lexer.Kind;

/**
 * Reads and evaluates constant expressions as the assembler does: C's operators on 64-bit integers, a value being unsigned if
 * one of its operands is, and always what {@code ~} and {@code %} give; floating-point constants stand alone, with a sign at
 * most. Not thread-safe.
 */
final class ConstantExpression {
    private static final int[][] LEVELS = {{two("||")}, {two("&&")}, {'|'}, {'^'}, {'&'}, {two("=="), two("!=")},
            {'<', '>', two("<="), two(">=")}, {two("<<"), two(">>")}, {'+', '-'}, {'*', '/', '%'}};
    private static final int ADDITIVE = 8;

    private final Tokens tokens;

    ConstantExpression(Tokens tokens) {
        this.tokens = tokens;
    }

    private static int two(String operator) {
        return operator.charAt(0) << 8 | operator.charAt(1);
    }

    /** Returns whether a constant may start here. */
    boolean here() {
        return switch (tokens.kind()) {
            case INTEGER, FLOAT32, FLOAT64 -> true;
            case PUNCTUATION -> switch (tokens.punctuation()) {
                case '-', '+', '~', '!', '(' -> true;
                default -> false;
            };
            default -> false;
        };
    }

    /** An integer or floating-point constant as an operand. */
    Operand operand() throws PtxException {
        boolean negative = tokens.at('-');
        if (negative) {
            tokens.advance();
            return afterSign('-');
        }
        return tokens.kind() == Kind.INTEGER || tokens.punctuation() != 0 ? integer() : floating(false);
    }

    /**
     * A constant whose sign has been passed over.
     *
     * @param sign {@code -} or {@code !}
     */
    Operand afterSign(char sign) throws PtxException {
        boolean minus = sign == '-';
        if (minus && (tokens.kind() == Kind.FLOAT32 || tokens.kind() == Kind.FLOAT64)) {
            return floating(true);
        }
        Operand.Immediate inner = unary();
        return ternary(continued(minus ? negated(inner) : truth(inner.value() == 0), 0));
    }

    private Operand floating(boolean negative) throws PtxException {
        long bits = tokens.bits();
        Operand constant = tokens.kind() == Kind.FLOAT32
                ? new Operand.Float32((int) bits ^ (negative ? Integer.MIN_VALUE : 0))
                : new Operand.Float64(bits ^ (negative ? Long.MIN_VALUE : 0));
        tokens.advance();
        return constant;
    }

    /** An integer constant. */
    Operand.Immediate integer() throws PtxException {
        tokens.enter();
        Operand.Immediate value = ternary(binary(0));
        tokens.leave();
        return value;
    }

    /** Sum of what follows a base: {@code +8}, {@code -4}, {@code +-8}, {@code +4*2}; 0 where nothing does. */
    long offset() throws PtxException {
        long offset = 0;
        while (tokens.at('+') || tokens.at('-')) {
            boolean minus = tokens.at('-');
            tokens.advance();
            long term = binary(ADDITIVE + 1).value();
            offset += minus ? -term : term;
        }
        return offset;
    }

    private Operand.Immediate ternary(Operand.Immediate condition) throws PtxException {
        if (!tokens.accept('?')) {
            return condition;
        }
        Operand.Immediate yes = integer();
        tokens.expect(':');
        Operand.Immediate no = integer();
        return condition.value() != 0 ? yes : no;
    }

    private Operand.Immediate binary(int level) throws PtxException {
        return level == LEVELS.length ? unary() : continued(unary(), level);
    }

    /** Applies the operators of a level and above to a first operand that has been read. */
    private Operand.Immediate continued(Operand.Immediate first, int level) throws PtxException {
        Operand.Immediate left = first;
        int found = levelHere();
        while (found >= level) {
            int operator = tokens.punctuation();
            tokens.advance();
            tokens.enter();
            Operand.Immediate right = binary(found + 1);
            tokens.leave();
            left = apply(operator, left, right);
            found = levelHere();
        }
        return left;
    }

    private int levelHere() {
        int operator = tokens.punctuation();
        for (int level = 0; operator != 0 && level < LEVELS.length; level++) {
            for (int candidate : LEVELS[level]) {
                if (candidate == operator) {
                    return level;
                }
            }
        }
        return -1;
    }

    private Operand.Immediate unary() throws PtxException {
        tokens.enter();
        Operand.Immediate value = switch (tokens.punctuation()) {
            case '-' -> {
                tokens.advance();
                yield negated(unary());
            }
            case '+' -> {
                tokens.advance();
                yield unary();
            }
            case '~' -> {
                tokens.advance();
                yield new Operand.Immediate(~unary().value(), true);
            }
            case '!' -> {
                tokens.advance();
                yield truth(unary().value() == 0);
            }
            case '(' -> parenthesised();
            default -> literal();
        };
        tokens.leave();
        return value;
    }

    private Operand.Immediate literal() throws PtxException {
        if (tokens.kind() != Kind.INTEGER) {
            throw tokens.error("expected an integer constant, found " + tokens.shown());
        }
        Operand.Immediate value = new Operand.Immediate(tokens.bits(), tokens.unsigned());
        tokens.advance();
        return value;
    }

    private Operand.Immediate parenthesised() throws PtxException {
        tokens.expect('(');
        if (tokens.atDotted("s64") || tokens.atDotted("u64")) {
            boolean unsigned = tokens.atDotted("u64");
            tokens.advance();
            tokens.expect(')');
            return new Operand.Immediate(unary().value(), unsigned);
        }
        Operand.Immediate value = integer();
        tokens.expect(')');
        return value;
    }

    /** An unsigned value stays unsigned, as in C and in the assembler; the table in the PTX ISA says otherwise. */
    private static Operand.Immediate negated(Operand.Immediate value) {
        return new Operand.Immediate(-value.value(), value.unsigned());
    }

    private static Operand.Immediate truth(boolean value) {
        return new Operand.Immediate(value ? 1 : 0, false);
    }

    private Operand.Immediate apply(int operator, Operand.Immediate left, Operand.Immediate right)
            throws PtxException {
        long a = left.value();
        long b = right.value();
        boolean unsigned = left.unsigned() || right.unsigned();
        int order = unsigned ? Long.compareUnsigned(a, b) : Long.compare(a, b);
        if ((operator == '/' || operator == '%') && b == 0) {
            throw tokens.error("division by zero in a constant expression");
        }
        return switch (operator) {
            case '+' -> new Operand.Immediate(a + b, unsigned);
            case '-' -> new Operand.Immediate(a - b, unsigned);
            case '*' -> new Operand.Immediate(a * b, unsigned);
            case '/' -> new Operand.Immediate(unsigned ? Long.divideUnsigned(a, b) : a / b, unsigned);
            case '%' -> new Operand.Immediate(Long.remainderUnsigned(a, b), true);
            case '&' -> new Operand.Immediate(a & b, unsigned);
            case '|' -> new Operand.Immediate(a | b, unsigned);
            case '^' -> new Operand.Immediate(a ^ b, unsigned);
            case '<' -> truth(order < 0);
            case '>' -> truth(order > 0);
            default -> applyLong(operator, left, right, order);
        };
    }

    private static Operand.Immediate applyLong(int operator, Operand.Immediate left, Operand.Immediate right,
            int order) {
        long a = left.value();
        long b = right.value();
        // The assembler shifts by the lowest six bits, as Java does.
        return switch ((char) (operator >> 8) + "" + (char) (operator & 0xFF)) {
            case "<<" -> new Operand.Immediate(a << b, left.unsigned());
            case ">>" -> new Operand.Immediate(left.unsigned() ? a >>> b : a >> b, left.unsigned());
            case "<=" -> truth(order <= 0);
            case ">=" -> truth(order >= 0);
            case "==" -> truth(a == b);
            case "!=" -> truth(a != b);
            case "&&" -> truth(a != 0 && b != 0);
            case "||" -> truth(a != 0 || b != 0);
            default -> throw new IllegalStateException("operator " + operator);
        };
    }
}

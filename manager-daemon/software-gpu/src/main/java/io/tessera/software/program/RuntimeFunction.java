package io.tessera.software.program;

/** Functions that every device provides and that PTX calls as externals. */
public enum RuntimeFunction {
    /** {@code int vprintf(const char *format, const void *arguments)}. */
    VPRINTF("vprintf"),
    /** {@code void *malloc(size_t bytes)}. */
    MALLOC("malloc"),
    /** {@code void free(void *address)}. */
    FREE("free"),
    /** {@code void __assertfail(message, file, line, function, size_t charBytes)}. */
    ASSERTFAIL("__assertfail");

    private final String symbol;

    RuntimeFunction(String symbol) {
        this.symbol = symbol;
    }

    /** Returns the name that PTX calls. */
    public String symbol() {
        return symbol;
    }

    /** Returns the function of this name, or null. */
    public static RuntimeFunction ofSymbol(String symbol) {
        for (RuntimeFunction function : values()) {
            if (function.symbol.equals(symbol)) {
                return function;
            }
        }
        return null;
    }
}

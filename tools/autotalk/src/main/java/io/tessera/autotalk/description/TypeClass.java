package io.tessera.autotalk.description;

/** Class of a named type from a caller's view: how a value is passed, and whether its members are known. */
public enum TypeClass {
    /** Signed integer. */
    SIGNED("i"),
    /** Unsigned integer, including device addresses. */
    UNSIGNED("u"),
    /** Floating point: passed in a vector register. */
    FLOATING("f"),
    /** Enumeration: passed as a 32-bit integer. */
    ENUMERATION("enum"),
    /** Pointer to a structure that only the driver knows. */
    HANDLE("handle"),
    /** Pointer with a name of its own that is not the driver's handle. */
    ADDRESS("address"),
    /** Function, or pointer to one. */
    FUNCTION("function"),
    /** Structure or union with known members: by value, or behind a pointer. */
    VALUE("value"),
    /** Structure that the header does not show; only ever behind a pointer. */
    OPAQUE("opaque"),
    /** {@code void}. */
    VOID("void");

    private final String word;

    TypeClass(String word) {
        this.word = word;
    }

    /** Returns the word in a description; for integers and floats, the number of bits follows it. */
    public String word() {
        return word;
    }
}

package io.tessera.autotalk.description;

/** What a named type is to a caller: how a value of it travels, and whether it can be looked into. */
public enum TypeClass {
    /** Signed integer. */
    SIGNED("i"),
    /** Unsigned integer; device addresses among them. */
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

    /** The word in a description; integers and floats carry their bits behind it. */
    public String word() {
        return word;
    }
}

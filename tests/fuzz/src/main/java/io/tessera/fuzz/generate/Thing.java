package io.tessera.fuzz.generate;

/**
 * A register, variable, label or function of a generated module. It has two names: the one that its scope gives it, which others may have too, and
 * one that nothing else in the module has. Compared by identity.
 */
final class Thing {
    private final String scoped;
    private final String flat;
    private final Width width;

    /**
     * Names it.
     *
     * @param scoped its name in the text with scopes
     * @param flat   its name in the text without
     * @param width  of a register, else null
     */
    Thing(String scoped, String flat, Width width) {
        this.scoped = scoped;
        this.flat = flat;
        this.width = width;
    }

    String scoped() {
        return scoped;
    }

    String flat() {
        return flat;
    }

    /** Of a register, else null. */
    Width width() {
        return width;
    }
}

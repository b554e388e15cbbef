package io.tessera.agent.instrument;

import java.util.Set;

/** The purpose of an instrumented method, and the keys that its rule may have. */
enum Role {
    /** Allocates: {@code address=ARG|return bytes=ARG[*ARG] kind=device|pinned|managed|array}. */
    ALLOC("address", "bytes", "kind"),
    /** Frees: {@code address=ARG}. */
    FREE("address"),
    /** Finds a kernel by name: {@code kernel=ARG|return name=ARG}. */
    NAME("kernel", "name"),
    /** Launches: {@code kernel=ARG}; without it the method's own name stands for the kernel. */
    LAUNCH("kernel", "except"),
    /** Copies: {@code bytes=ARG[*ARG] direction=h2h|h2d|d2h|d2d|any|ARG}. */
    COPY("bytes", "direction"),
    /** An instance method that returns another pointer into the same memory. */
    DERIVE();

    private final Set<String> keys;

    Role(String... keys) {
        this.keys = Set.of(keys);
    }

    boolean takes(String key) {
        return keys.contains(key) || key.equals("since") || key.equals("until");
    }
}

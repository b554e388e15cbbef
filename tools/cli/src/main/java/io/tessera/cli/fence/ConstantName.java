package io.tessera.cli.fence;

import java.util.Locale;

/** Names of constants for people and scripts. Stateless. */
final class ConstantName {
    private ConstantName() {
    }

    /** {@code BRANCH_INDEX} as {@code branch index}. */
    static String text(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}

package io.tessera.manager.violation;

import io.tessera.cli.text.Sizes;

/** The manager may not use the tools. */
public final class AsksTheCommands {
    /** Uses them. */
    public String size() {
        return Sizes.format(1);
    }
}

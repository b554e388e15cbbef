package io.tessera.autotalk;

import java.util.List;
import java.util.Optional;

/**
 * An exported entry point.
 *
 * @param abiName    the exported name, for example {@code cuMemAlloc_v2} or {@code cuLaunchKernel_ptsz}
 * @param parameters its parameters; empty where no header declares the entry, which can only be passed through
 */
public record Entry(String abiName, Optional<List<Parameter>> parameters) {

    /** The name in source code: without version and per-thread suffix. */
    public String apiName() {
        return withoutThreadSuffix().replaceFirst("_v\\d+$", "");
    }

    /** The ABI version in the name; 1 where it has none. */
    public int abiVersion() {
        String name = withoutThreadSuffix();
        int at = name.lastIndexOf("_v");
        return at > 0 && name.substring(at + 2).matches("\\d+") ? Integer.parseInt(name.substring(at + 2)) : 1;
    }

    /** Whether a null stream means the calling thread's own default stream. */
    public boolean perThreadStream() {
        return abiName.endsWith("_ptsz") || abiName.endsWith("_ptds");
    }

    /** The entry without its per-thread suffix: the family that variants share. */
    public String withoutThreadSuffix() {
        return perThreadStream() ? abiName.substring(0, abiName.length() - "_ptsz".length()) : abiName;
    }
}

package io.tessera.autotalk.description;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * An entry of the driver under one ABI name, with its twin for the per-thread default stream.
 *
 * @param name       the exported name, as {@code cuMemcpyHtoD_v2}
 * @param api        the name in programs, as {@code cuMemcpyHtoD}
 * @param perThread exported name of the twin whose stream 0 is the per-thread one ({@code _ptds}, {@code _ptsz}); it has the same
 *         parameters
 * @param source     source of the parameters, as {@code cuda.h 13000}, or the list of names that contains the entry
 * @param exported   whether a list of exported names contains it, or no list was given
 * @param since      first CUDA versions for which {@code cuGetProcAddress} answers with it
 * @param signature  return type and parameters; empty: no header declares the entry
 */
public record Entry(String name, String api, Optional<String> perThread, String source, boolean exported,
        Since since, Optional<Signature> signature) {
    private static final Pattern TWIN = Pattern.compile("_pt[sd][zs]$");
    private static final Pattern VERSION = Pattern.compile("_v[0-9]+$");

    /**
     * First CUDA versions, as 3020, for which a lookup by the name without version answers with an entry.
     *
     * @param plain     version of the entry itself; 0: unknown
     * @param perThread version of its twin; 0: unknown
     */
    public record Since(int plain, int perThread) {
        /** No version is known. */
        public static final Since UNKNOWN = new Since(0, 0);
    }

    /**
     * Signature of an entry.
     *
     * @param returns    return type
     * @param parameters parameters, in order
     */
    public record Signature(TypeName returns, List<EntryParameter> parameters) {
        /** Copies the list. */
        public Signature {
            parameters = List.copyOf(parameters);
        }
    }

    /** Returns an exported name without its per-thread suffix. */
    public static String withoutTwin(String exportedName) {
        return TWIN.matcher(exportedName).replaceFirst("");
    }

    /** Returns an exported name without its per-thread suffix and version. */
    public static String stem(String exportedName) {
        return VERSION.matcher(withoutTwin(exportedName)).replaceFirst("");
    }

    /** Returns whether stream 0 of this exported name is the per-thread one. */
    public static boolean isTwin(String exportedName) {
        return TWIN.matcher(exportedName).find();
    }

    /** Returns a copy with known versions. */
    public Entry withSince(Since known) {
        return new Entry(name, api, perThread, source, exported, known, signature);
    }

    /** Returns the ABI version in the name; 1 if there is none. */
    public int version() {
        String plain = withoutTwin(name);
        String stem = stem(name);
        return stem.equals(plain) ? 1 : Integer.parseInt(plain.substring(stem.length() + "_v".length()));
    }
}

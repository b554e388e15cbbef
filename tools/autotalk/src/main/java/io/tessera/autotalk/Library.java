package io.tessera.autotalk;

/**
 * What differs between the libraries that code is generated for.
 *
 * @param files       prefix of the generated files
 * @param symbols     prefix of the generated symbols that are not entries
 * @param constants   prefix of the entries' indices
 * @param ownExports  exports that are not entries
 */
record Library(String files, String symbols, String constants, java.util.List<String> ownExports) {
    static final Library CUDA = new Library("", "tessera_", "ENTRY_", java.util.List.of("dlopen", "tessera_memory_of"));
    static final Library NVML =
            new Library("nvml_", "tessera_nvml_", "NVML_ENTRY_", java.util.List.of("tessera_nvml_here"));

    static Library named(String name) {
        return switch (name) {
            case "cuda" -> CUDA;
            case "nvml" -> NVML;
            default -> throw new AutotalkException("--library is cuda or nvml, not " + name);
        };
    }
}

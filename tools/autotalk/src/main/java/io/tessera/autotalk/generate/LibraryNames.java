package io.tessera.autotalk.generate;

import java.util.Locale;

/**
 * Names in generated files, kept apart so that several driver libraries can be generated for one shared object.
 *
 * @param filePrefix   of generated files
 * @param headerName   file with table, enumeration and prototypes
 * @param symbolPrefix of tables and functions
 * @param macroPrefix  of macros and constants
 */
public record LibraryNames(String filePrefix, String headerName, String symbolPrefix, String macroPrefix) {

    /** Returns the names for a library by its short name. */
    public static LibraryNames of(String library) {
        return library.equals("cuda") ? new LibraryNames("", "tessera_entries.h", "tessera_", "TESSERA_")
                : new LibraryNames(library + "_", library + "_entries.h", "tessera_" + library + "_",
                        "TESSERA_" + library.toUpperCase(Locale.ROOT) + "_");
    }

    /** Returns the table of the vendor's entries. */
    String table() {
        return symbolPrefix + "real";
    }

    /** Returns the function that finds a vendor's entry at its first use. */
    String resolver() {
        return symbolPrefix + "resolve";
    }

    /** Returns the table through which exported symbols jump if there are two ports. */
    String port() {
        return symbolPrefix + "port";
    }

    /** Returns the function that chooses the port at the first use. */
    String chooser() {
        return symbolPrefix + "choose";
    }

    /** Returns the stubs with which the table of vendor's entries starts. */
    String first() {
        return symbolPrefix + "first";
    }

    /** Returns the exported symbols by index. */
    String exported() {
        return symbolPrefix + "exported";
    }

    /** Returns the assembler's name of the direct port's function for an entry, whose own name is the exported jump. */
    static String direct(String entry) {
        return "direct_" + entry;
    }

    /** Returns the constant with the number of entries. */
    String count() {
        return macroPrefix + "ENTRY_COUNT";
    }
}

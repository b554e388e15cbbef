package io.tessera.cli.fence;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Filters the assembler options that an image in a fat binary requests. Stateless. */
final class AssemblerOptions {
    /** Options that change the code and cannot name a file: the contents of a library must not determine what is run or written. */
    private static final Pattern ALLOWED = Pattern.compile("-maxrregcount=\\d{1,3}|-O[0-4]|--?def-(load|store)-cache=c[agvswt]"
            + "|-dlcm=c[agvs]|-dscm=w[bt]|-dscm=c[gs]");

    private AssemblerOptions() {
    }

    /** Returns the allowed ones of an entry's options. */
    static List<String> of(String options) {
        List<String> taken = new ArrayList<>();
        for (String option : options.split("\\s+")) {
            if (ALLOWED.matcher(option).matches()) {
                taken.add(option);
            }
        }
        return taken;
    }
}

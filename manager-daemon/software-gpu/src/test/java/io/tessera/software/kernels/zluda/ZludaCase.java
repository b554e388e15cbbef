package io.tessera.software.kernels.zluda;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A kernel of ZLUDA's tests ({@code ptx/src/test/spirv_run} there) with what it is given and what it has to compute. Those that
 * its test source lists without numbers are compiled there, not run, and are left out here.
 *
 * @param name   of the kernel, and of its file without {@code .ptx}
 * @param input  what the first pointer leads to; null where both lead to the output
 * @param output what the second pointer has to lead to after the kernel
 * @param threads of the one block
 */
record ZludaCase(String name, RustArray input, RustArray output, int threads) {
    private static final Pattern CASE = Pattern.compile("(?m)^test_ptx(_with_32|_warp)?!\\(([^;]*)\\);");
    private static final int WARP_TEST_THREADS = 64;

    /** All cases of the source {@code mod.rs}. */
    static List<ZludaCase> all(String source) {
        List<ZludaCase> cases = new ArrayList<>();
        Matcher matcher = CASE.matcher(source.replaceAll("//[^\n]*", ""));
        while (matcher.find()) {
            List<String> parts = Commas.split(matcher.group(2));
            if ("_warp".equals(matcher.group(1))) {
                cases.add(new ZludaCase(parts.get(0), null, array(parts.get(1)), WARP_TEST_THREADS));
            } else if (parts.size() == 3) {
                cases.add(new ZludaCase(parts.get(0), array(parts.get(1)), array(parts.get(2)), 1));
            }
        }
        return cases;
    }

    private static RustArray array(String text) {
        return RustArray.parse(text.substring(1, text.length() - 1));
    }
}

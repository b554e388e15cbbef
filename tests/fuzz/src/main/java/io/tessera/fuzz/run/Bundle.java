package io.tessera.fuzz.run;

import java.util.List;
import java.util.regex.Pattern;

/** One text of several fenced ones, whose module-level names get a number: an assembler takes longer to start than to assemble one. Stateless. */
final class Bundle {
    /** What generated modules and fences declare, or labels of fences; registers, which begin with a percent sign, stay as they are. */
    private static final Pattern NAME = Pattern.compile("(?<![%\\w$.])(?:k|f0|f1|functions|table|constants|__tessera_\\w+)(?![\\w$])");
    private static final Pattern HEAD = Pattern.compile("(?m)^\\.(?:version|target|address_size)\\b.*\n");

    private Bundle() {
    }

    /** The text; its head is that of the first. */
    static String of(List<String> texts) {
        StringBuilder all = new StringBuilder();
        HEAD.matcher(texts.getFirst()).results().forEach(line -> all.append(line.group()));
        for (int i = 0; i < texts.size(); i++) {
            String number = "_" + i;
            all.append(NAME.matcher(HEAD.matcher(texts.get(i)).replaceAll("")).replaceAll(name -> name.group() + number));
        }
        return all.toString();
    }
}

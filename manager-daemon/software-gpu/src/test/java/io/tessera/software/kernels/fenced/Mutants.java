package io.tessera.software.kernels.fenced;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Breaks fenced text in one place: what an instruction reads, how far, whether and where it is made, how large a variable is. By a seed. */
final class Mutants {
    private static final Pattern REGISTER = Pattern.compile("%(?:rd|rs|r|p)\\d+");
    private static final Pattern NUMBER = Pattern.compile("(?<![\\w%$.])-?\\d+(?![\\w.])");
    private static final Pattern LABEL = Pattern.compile("\\$L\\d+");
    private static final String[][] WORDS = {{"and.b32", "or.b32"}, {"or.b32", "and.b32"}, {"min.u32", "max.u32"}, {"min.u64", "max.u64"},
            {"max.u64", "min.u64"},
            {"and.b64", "or.b64"}, {"add.s64", "sub.s64"}, {"sub.u32", "add.u32"}, {"setp.lt.u32", "setp.ge.u32"}, {"setp.ne.u32", "setp.eq.u32"},
            {"setp.ge.u32", "setp.lt.u32"}, {"setp.gt.and.s32", "setp.gt.or.s32"}, {"and.pred", "or.pred"}, {"xor.b32", "or.b32"},
            {".shared", ".local"},
            {".u32", ".s32"}, {"mul.lo", "mul.hi"}, {"isspacep.shared", "isspacep.local"}, {"ld.const", "ld.global"}, {"selp.b64", "selp.u64"}};

    private final Random random;
    private final List<String> lines;
    private final int head;
    private final int first;
    private final int last;

    /** Creates an instance for a text, in one of its bodies. */
    Mutants(String text, Random random) {
        this.random = random;
        lines = new ArrayList<>(text.lines().toList());
        List<int[]> bodies = new ArrayList<>();
        int open = -1;
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).equals("{")) {
                open = i + 1;
            } else if (lines.get(i).equals("}")) {
                bodies.add(new int[] {open, i});
            }
        }
        int[] body = bodies.get(random.nextInt(bodies.size()));
        int start = body[0];
        while (start < body[1] - 1 && lines.get(start).startsWith("\t.")) {
            start++;
        }
        head = body[0];
        first = start;
        last = body[1];
    }

    private int line() {
        return first + random.nextInt(last - first);
    }

    /** A text that is broken in one place, or null where the place has nothing that can be. */
    String next() {
        List<String> broken = new ArrayList<>(lines);
        int at = line();
        String line = lines.get(at);
        boolean changed = switch (random.nextInt(11)) {
            case 0 -> broken.remove(at) != null;
            case 1, 2 -> replace(broken, at, REGISTER, other(REGISTER, line));
            case 3 -> replace(broken, at, NUMBER, number());
            case 4 -> replace(broken, at, LABEL, other(LABEL, line));
            case 5 -> broken.addAll(line(), List.of(broken.remove(at)));
            case 6 -> broken.addAll(at, List.of(lines.get(line())));
            case 7 -> guard(broken, at);
            case 8 -> first > head && replace(broken, head + random.nextInt(first - head), NUMBER, Integer.toString(1 << random.nextInt(20)));
            case 9 -> replace(broken, at, REGISTER, other(REGISTER, line)) && replace(broken, line(), REGISTER, other(REGISTER, lines.get(line())));
            default -> word(broken, at);
        };
        return changed && !broken.equals(lines) ? String.join("\n", broken) + "\n" : null;
    }

    private String number() {
        return switch (random.nextInt(6)) {
            case 0 -> "0";
            case 1 -> "-1";
            case 2 -> "4294967295";
            case 3 -> Integer.toString(1 << random.nextInt(31));
            case 4 -> Integer.toString(random.nextInt());
            default -> Long.toString(-(1L << random.nextInt(31)));
        };
    }

    private String other(Pattern kind, String line) {
        Matcher own = kind.matcher(line);
        String like = own.find() ? own.group().replaceAll("\\d", "") : "";
        for (int tries = 0; tries < 50; tries++) {
            Matcher found = kind.matcher(lines.get(line()));
            if (found.find() && found.group().replaceAll("\\d", "").equals(like)) {
                return found.group();
            }
        }
        return null;
    }

    private boolean replace(List<String> broken, int at, Pattern kind, String with) {
        Matcher matcher = kind.matcher(broken.get(at));
        List<int[]> places = new ArrayList<>();
        while (matcher.find()) {
            places.add(new int[] {matcher.start(), matcher.end()});
        }
        if (places.isEmpty() || with == null) {
            return false;
        }
        int[] place = places.get(random.nextInt(places.size()));
        String line = broken.get(at);
        broken.set(at, line.substring(0, place[0]) + with + line.substring(place[1]));
        return true;
    }

    private static boolean guard(List<String> broken, int at) {
        String line = broken.get(at);
        if (!line.startsWith("\t@")) {
            return false;
        }
        broken.set(at, line.startsWith("\t@!") ? line.replaceFirst("@!", "@") : line.replaceFirst("@", "@!"));
        return true;
    }

    private boolean word(List<String> broken, int at) {
        String[] pair = WORDS[random.nextInt(WORDS.length)];
        String line = broken.get(at);
        broken.set(at, line.replace(pair[0], pair[1]));
        return line.contains(pair[0]);
    }
}

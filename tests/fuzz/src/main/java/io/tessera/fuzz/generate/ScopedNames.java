package io.tessera.fuzz.generate;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** What names mean where the text is being written: in the order of declarations, as an assembler reads them. Not thread-safe. */
final class ScopedNames {
    /** Few, so that inner blocks hide outer names all the time; some are registers of the machine, or look like rows. */
    private static final List<String> POOL = List.of("%a", "%b", "%c", "%r1", "%r2", "%r3", "%rd1", "%rd2", "%p1", "%t0", "%t1", "%w0", "%w1", "%q0",
            "%q1",
            "%h0", "%i", "%i0", "%small_0", "x", "y", "tile", "frame", "table", "constants", "in", "out", "own");
    private static final List<String> SPECIAL = List.of("%laneid", "%lanemask_eq", "%dynamic_smem_size", "%warpid", "%envreg3", "%clock");

    private final List<Map<String, NamedEntity>> open = new ArrayList<>();
    private final List<List<String>> rows = new ArrayList<>();
    /** Things that the step which is being written goes on using: nothing may hide them. */
    private List<NamedEntity> pinned = new ArrayList<>();
    private int made;

    ScopedNames() {
        enter();
    }

    void enter() {
        open.add(new HashMap<>());
        rows.add(new ArrayList<>());
    }

    void leave() {
        open.removeLast();
        rows.removeLast();
    }

    /** Whether the name of a thing means it here. */
    boolean visible(NamedEntity thing) {
        for (int i = open.size() - 1; i >= 0; i--) {
            NamedEntity found = open.get(i).get(thing.scoped());
            if (found != null) {
                return found == thing;
            }
        }
        return false;
    }

    /** Whether a thing was declared in a scope that is open. */
    boolean declared(NamedEntity thing) {
        return open.stream().anyMatch(scope -> scope.get(thing.scoped()) == thing);
    }

    /** Declares a name in the innermost scope; it must be free there. */
    NamedEntity declare(String name, RegisterWidth width) {
        NamedEntity thing = new NamedEntity(name, flat(name), width);
        open.getLast().put(name, thing);
        return thing;
    }

    /** A label of the innermost scope; labels of others may have its name. Branches are written in that scope or in one inside of it that does not hide it. */
    NamedEntity label(Random random) {
        for (int tries = 0; tries < 6; tries++) {
            String name = "L" + random.nextInt(6);
            if (free(name)) {
                return pin(declare(name, null));
            }
        }
        return pin(declare("M" + made, null));
    }

    /** A label that stands further on than the branch to it: its name means nothing yet. */
    NamedEntity ahead(Random random) {
        String name = "F" + random.nextInt(12);
        return open.stream().anyMatch(scope -> scope.containsKey(name)) ? pin(declare("M" + made, null)) : pin(declare(name, null));
    }

    /** A name that is the same in both texts. */
    NamedEntity fixed(String name, RegisterWidth width) {
        NamedEntity thing = new NamedEntity(name, name, width);
        open.getLast().put(name, thing);
        return thing;
    }

    /** What the module declares under a name. */
    NamedEntity module(String name) {
        return open.getFirst().get(name);
    }

    /** Declares some name in the innermost scope, which probably hides another. */
    NamedEntity any(Random random, RegisterWidth width) {
        for (int tries = 0; tries < 6; tries++) {
            List<String> from = random.nextInt(60) == 0 ? SPECIAL : POOL;
            String name = from.get(random.nextInt(from.size()));
            if (free(name)) {
                return declare(name, width);
            }
        }
        return declare("%n" + made + "x", width);
    }

    /** Keeps a thing from being hidden until the step ends. */
    NamedEntity pin(NamedEntity thing) {
        pinned.add(thing);
        return thing;
    }

    /** Begins a step: what is pinned from now on is of it alone. Gives what the step around it has pinned. */
    List<NamedEntity> beginStep() {
        List<NamedEntity> outer = pinned;
        pinned = new ArrayList<>();
        return outer;
    }

    /** Ends a step. */
    void endStep(List<NamedEntity> outer) {
        pinned = outer;
    }

    private boolean hides(String name) {
        return pinned.stream().anyMatch(thing -> thing.scoped().equals(name));
    }

    private boolean free(String name) {
        return !hides(name) && !open.getLast().containsKey(name)
                && rows.getLast().stream().noneMatch(row -> name.matches(java.util.regex.Pattern.quote(row) + "[0-9]+"));
    }

    /** Declares a row of some prefix in the innermost scope, or none if it would collide there. */
    List<NamedEntity> row(Random random, RegisterWidth width, int count) {
        String prefix = List.of("%r", "%rd", "%p", "%i", "%t", "%w").get(random.nextInt(6));
        for (String name : open.getLast().keySet()) {
            if (name.startsWith(prefix)) {
                return List.of();
            }
        }
        if (pinned.stream().anyMatch(thing -> thing.scoped().startsWith(prefix))) {
            return List.of();
        }
        rows.getLast().add(prefix);
        List<NamedEntity> row = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            row.add(declare(prefix + i, width));
        }
        return row;
    }

    /** A name that nothing in the module has, for the flat text. */
    private String flat(String name) {
        boolean percent = name.startsWith("%");
        return (percent ? "%" : "") + "u" + made++ + "_" + (percent ? name.substring(1) : name);
    }
}

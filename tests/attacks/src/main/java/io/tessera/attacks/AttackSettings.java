package io.tessera.attacks;

import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * How a suite is run.
 *
 * @param place          where everything is
 * @param managerOptions options of the manager
 * @param environment    more environment of attackers
 * @param only           globs of names; empty: all
 * @param except         globs of names that are left out
 * @param seed           of the secret
 * @param boundSeconds   how long an attacker may take that says nothing else
 * @param stallMs        how long a computation of the victim may take
 * @param lanes          how many attacks run at once, each against a victim of its own
 * @param limitSeconds   after this time no further attack begins
 * @param times          how often each attack runs
 * @param control        whether nothing protects the victim's memory: the suite must see escapes
 */
public record AttackSettings(AttackInstallation place, List<String> managerOptions, Map<String, String> environment, List<String> only,
        List<String> except, long seed, int boundSeconds, long stallMs, int lanes, long limitSeconds, int times, boolean control) {
    /** Half the processors: an attack keeps an attacker, an executor and a victim busy, one after the other. */
    static int usualLanes(int processors) {
        return Math.clamp(processors / 2, 2, 6);
    }

    /** Whether an attack of this name is run. */
    boolean wants(String name) {
        return (only.isEmpty() || any(only, name)) && !any(except, name);
    }

    private static boolean any(List<String> globs, String name) {
        return globs.stream().anyMatch(
                glob -> FileSystems.getDefault().getPathMatcher("glob:" + glob).matches(Path.of(name)));
    }
}

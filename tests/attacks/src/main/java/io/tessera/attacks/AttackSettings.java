package io.tessera.attacks;

import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Settings of a run of the suite.
 *
 * @param place          the installation
 * @param managerOptions options of the manager
 * @param environment    additional environment of attackers
 * @param only           globs of names; empty: all
 * @param except         globs of excluded names
 * @param seed           seed of the secret
 * @param boundSeconds   time limit of attackers that have none of their own
 * @param stallMs        maximum time of a computation of the victim
 * @param lanes          number of attacks at once, each against a victim of its own
 * @param limitSeconds   after this time no further attack begins
 * @param times          number of runs of each attack
 * @param control        whether the victim's memory is unprotected, so that the suite must see escapes
 */
public record AttackSettings(AttackInstallation place, List<String> managerOptions, Map<String, String> environment, List<String> only,
        List<String> except, long seed, int boundSeconds, long stallMs, int lanes, long limitSeconds, int times, boolean control) {
    /** Returns the default number of lanes, half the processors: an attack keeps an attacker, an executor and a victim busy in sequence. */
    static int usualLanes(int processors) {
        return Math.clamp(processors / 2, 2, 6);
    }

    boolean wants(String name) {
        return (only.isEmpty() || any(only, name)) && !any(except, name);
    }

    private static boolean any(List<String> globs, String name) {
        return globs.stream().anyMatch(
                glob -> FileSystems.getDefault().getPathMatcher("glob:" + glob).matches(Path.of(name)));
    }
}

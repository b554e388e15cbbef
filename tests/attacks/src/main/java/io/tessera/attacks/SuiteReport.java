package io.tessera.attacks;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.util.List;
import java.util.function.Function;

/**
 * Results of all attacks. Immutable.
 *
 * @param verdicts one for each attack
 * @param unmade   attacks for which there was no time
 */
public record SuiteReport(List<AttackOutcome> verdicts, List<String> unmade) {
    private long count(Function<AttackOutcome, String> what) {
        return verdicts.stream().filter(verdict -> !what.apply(verdict).isEmpty()).count();
    }

    /** Returns the number of attacks that read or changed something of the victim. */
    public long escapes() {
        return count(AttackOutcome::escaped);
    }

    /** Returns the number of attacks after which the victim, the executor or the manager had ended. */
    public long crashes() {
        return count(AttackOutcome::crashed);
    }

    /** Returns the number of attacks that the victim noticed. */
    public long disturbed() {
        return count(AttackOutcome::disturbed);
    }

    /** Returns the number of attackers whose outcome differs from the required one. */
    public long unlike() {
        return count(AttackOutcome::unlike);
    }

    /** Returns the number of attacks that could not begin. */
    public long untried() {
        return count(AttackOutcome::untried);
    }

    /** Returns whether every attack was tried and failed as required. */
    public boolean held() {
        return unmade.isEmpty() && verdicts.stream().allMatch(AttackOutcome::held);
    }

    /** Returns one line of the table. */
    static String line(AttackOutcome verdict) {
        StringBuilder trouble = new StringBuilder();
        trouble(trouble, "ESCAPE: ", verdict.escaped());
        trouble(trouble, "CRASH: ", verdict.crashed());
        trouble(trouble, "DISTURBED: ", verdict.disturbed());
        trouble(trouble, "NOT AS STATED: ", verdict.unlike());
        return "%-28s %-9s %-26s %6d ms, victim %5d ms  %s".formatted(verdict.attack().name(), verdict.attack().must().word(),
                verdict.outcome().length() > 26 ? verdict.outcome().substring(0, 26) : verdict.outcome(),
                verdict.tookMs(), verdict.longestMs(), trouble.isEmpty() ? "held" : trouble);
    }

    private static void trouble(StringBuilder all, String kind, String what) {
        if (!what.isEmpty()) {
            all.append(all.isEmpty() ? "" : "; ").append(kind).append(what);
        }
    }

    /** Returns the last lines of the table. */
    List<String> sums() {
        return List.of("attacks: " + verdicts.size(), "no time for: " + unmade.size(), "not tried: " + untried(), "not as stated: " + unlike(),
                "crashes: " + crashes(), "escapes: " + escapes(), "victims disturbed: " + disturbed());
    }

    /** Returns the report for scripts. */
    JsonObject json() {
        JsonArray attacks = new JsonArray();
        for (AttackOutcome verdict : verdicts) {
            JsonObject attack = new JsonObject();
            attack.addProperty("name", verdict.attack().name());
            attack.addProperty("what", verdict.attack().what());
            attack.addProperty("must", verdict.attack().must().word());
            attack.addProperty("outcome", verdict.outcome());
            attack.addProperty("escaped", verdict.escaped());
            attack.addProperty("crashed", verdict.crashed());
            attack.addProperty("disturbed", verdict.disturbed());
            attack.addProperty("unlike", verdict.unlike());
            attack.addProperty("untried", verdict.untried());
            attack.addProperty("tookMs", verdict.tookMs());
            attack.addProperty("victimLongestMs", verdict.longestMs());
            attacks.add(attack);
        }
        JsonObject report = new JsonObject();
        report.add("attacks", attacks);
        JsonArray late = new JsonArray();
        unmade.forEach(late::add);
        report.add("noTimeFor", late);
        report.addProperty("notTried", untried());
        report.addProperty("notAsStated", unlike());
        report.addProperty("crashes", crashes());
        report.addProperty("escapes", escapes());
        report.addProperty("victimsDisturbed", disturbed());
        return report;
    }
}

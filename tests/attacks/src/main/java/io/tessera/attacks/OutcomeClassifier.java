package io.tessera.attacks;

import java.util.List;
import java.util.StringJoiner;

/** Determines the outcome of an attack from what the attacker obtained and the victim found. Stateless but for the secret. */
final class OutcomeClassifier {
    private final VictimSecret secret;
    private final long stallMs;

    /**
     * Creates a classifier for a secret.
     *
     * @param stallMs maximum time of a computation of the victim
     */
    OutcomeClassifier(VictimSecret secret, long stallMs) {
        this.secret = secret;
        this.stallMs = stallMs;
    }

    /**
     * Classifies the outcome.
     *
     * @param fallen processes of the service that ended; empty: none
     * @param gone   whether everything of the attacker was removed from the executor in time
     */
    AttackOutcome judge(Attack attack, AttackerRecord conduct, Victim.Finding victim, String fallen, boolean gone) {
        int seen = secret.seenIn(conduct.loot());
        StringJoiner escaped = new StringJoiner(", ");
        if (seen > 0) {
            escaped.add("saw " + seen + " words");
        }
        if (victim.changed() > 0) {
            escaped.add("changed " + victim.changed() + " words");
        }
        if (victim.wrong() > 0) {
            escaped.add(victim.wrong() + " wrong results");
        }
        StringJoiner crashed = new StringJoiner(", ");
        StringJoiner disturbed = new StringJoiner(", ");
        if (!victim.alive()) {
            crashed.add("victim " + victim.lost());
            disturbed.add("ended");
        }
        if (!fallen.isEmpty()) {
            crashed.add(fallen);
        }
        if (victim.errors() > 0) {
            disturbed.add(victim.errors() + " errors");
        }
        if (victim.changed() + victim.wrong() > 0) {
            disturbed.add("memory");
        }
        if (victim.longestMs() > stallMs) {
            disturbed.add("stalled " + victim.longestMs() + " ms");
        }
        return new AttackOutcome(attack, escaped.toString(), crashed.toString(), disturbed.toString(), unlike(attack, conduct, gone),
                conduct.unable(), outcome(conduct), conduct.tookMs(), victim.longestMs());
    }

    private static String unlike(Attack attack, AttackerRecord conduct, boolean gone) {
        if (!gone) {
            return "left work that did not end";
        }
        if (!conduct.ended() && attack.must() != Attack.Must.STOPPED) {
            return "had to be ended";
        }
        if (attack.must() != Attack.Must.REFUSED || !conduct.unable().isEmpty()) {
            return "";
        }
        if (conduct.signal() != 0) {
            return "died before it had tried all";
        }
        if (conduct.answers().isEmpty()) {
            return "was answered nothing";
        }
        List<String> allowed = conduct.answers().stream().filter(answer -> answer.code() == 0)
                .map(AttackerRecord.Answer::where).toList();
        return allowed.isEmpty() ? "" : "allowed " + String.join(", ", allowed);
    }

    private static String outcome(AttackerRecord conduct) {
        if (!conduct.ended()) {
            return "ended by the runner";
        }
        if (!conduct.unable().isEmpty()) {
            return conduct.unable();
        }
        if (conduct.signal() != 0) {
            return "died of signal " + conduct.signal();
        }
        return conduct.answers().stream().filter(answer -> answer.code() != 0).reduce((_, last) -> last)
                .map(answer -> answer.where().length() < 12 ? "error " + answer : "error " + answer.code()).orElse("ran");
    }
}

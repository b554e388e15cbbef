package io.tessera.attacks;

/**
 * Outcome of one attack.
 *
 * @param attack    the attack
 * @param escaped   what was read or changed of the victim; empty: nothing
 * @param crashed   the process that ended although it must not; empty: none
 * @param disturbed what the victim noticed; empty: nothing
 * @param unlike    how the attacker's outcome differs from the required one; empty: it does not
 * @param untried   why the attack could not begin; empty: it did
 * @param outcome   the attacker's outcome
 * @param tookMs    its duration
 * @param longestMs the victim's longest computation meanwhile
 */
public record AttackOutcome(Attack attack, String escaped, String crashed, String disturbed, String unlike, String untried,
        String outcome, long tookMs, long longestMs) {
    /** Returns whether everything is as required. */
    public boolean held() {
        return escaped.isEmpty() && crashed.isEmpty() && disturbed.isEmpty() && unlike.isEmpty();
    }
}

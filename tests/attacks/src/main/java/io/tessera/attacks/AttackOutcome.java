package io.tessera.attacks;

/**
 * What came of one attack.
 *
 * @param attack    which
 * @param escaped   what of the victim was seen or changed; empty: nothing
 * @param crashed   which process ended that must not; empty: none
 * @param disturbed what the victim noticed; empty: nothing
 * @param unlike    how the attacker fared otherwise than stated; empty: as stated
 * @param untried   why it could not even begin; empty: it was tried
 * @param outcome   how the attacker fared
 * @param tookMs    how long it took
 * @param longestMs the victim's longest computation meanwhile
 */
public record AttackOutcome(Attack attack, String escaped, String crashed, String disturbed, String unlike, String untried,
        String outcome, long tookMs, long longestMs) {
    /** Whether all is as it must be. */
    public boolean held() {
        return escaped.isEmpty() && crashed.isEmpty() && disturbed.isEmpty() && unlike.isEmpty();
    }
}

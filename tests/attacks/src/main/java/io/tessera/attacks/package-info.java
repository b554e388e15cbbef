/**
 * The attack suite's runner: starts a manager and an executor, a victim that has a secret, and one attacker after the
 * other, and classifies what each of them obtained. Read first {@link io.tessera.attacks.AttackSuite}, {@link
 * io.tessera.attacks.OutcomeClassifier} and {@link io.tessera.attacks.Attack}.
 */
package io.tessera.attacks;

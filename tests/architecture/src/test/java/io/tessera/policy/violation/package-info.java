/** Classes that break a rule on purpose, for RulesSeeViolationsTest. */
package io.tessera.policy.violation;

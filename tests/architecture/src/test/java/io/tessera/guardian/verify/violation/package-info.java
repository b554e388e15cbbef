/** Breaks the rule of the verifier on purpose. */
package io.tessera.guardian.verify.violation;

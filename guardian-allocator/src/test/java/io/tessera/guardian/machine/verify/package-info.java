/** Tests of what the verifier takes and refuses. */
package io.tessera.guardian.machine.verify;

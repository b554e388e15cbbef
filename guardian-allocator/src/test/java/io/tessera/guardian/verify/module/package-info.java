/** Tests of the verifier. */
package io.tessera.guardian.verify.module;

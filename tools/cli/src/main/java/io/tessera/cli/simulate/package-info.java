/** {@code tessera simulate}: scheduling policies on recorded and generated traces. */
package io.tessera.cli.simulate;

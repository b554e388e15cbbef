/** {@code tessera simulate} and its traces. */
package io.tessera.cli.simulate;

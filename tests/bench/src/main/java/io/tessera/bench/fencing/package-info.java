/** Speed of the fencer: read first {@link io.tessera.bench.fencing.FencingSpeed}. */
package io.tessera.bench.fencing;

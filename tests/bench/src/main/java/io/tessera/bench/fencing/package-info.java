/** How fast the fencer is: read first {@link io.tessera.bench.fencing.FencingSpeed}. */
package io.tessera.bench.fencing;

/** Tests of which memory kernels can write and read. */
package io.tessera.guardian.fence.footprint;

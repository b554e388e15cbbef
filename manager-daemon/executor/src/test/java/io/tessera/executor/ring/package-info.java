/** Tests of the ring's reader. */
package io.tessera.executor.ring;

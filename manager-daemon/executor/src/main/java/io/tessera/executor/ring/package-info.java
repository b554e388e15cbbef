/** Reading a client's ring: records are copied, then believed as little as anything that a client writes. */
package io.tessera.executor.ring;

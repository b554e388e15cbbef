/** Reading a client's ring: records are copied, and their copies are not trusted either. */
package io.tessera.executor.ring;

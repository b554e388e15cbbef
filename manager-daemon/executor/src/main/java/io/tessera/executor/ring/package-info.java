/** Reads a client's ring. Records are copied before they are checked, so that the client cannot change them afterwards. */
package io.tessera.executor.ring;

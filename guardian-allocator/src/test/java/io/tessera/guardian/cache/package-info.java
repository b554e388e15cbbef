/** Tests of the cache's guarantees: whole entries or none, whichever process dies, and whatever errors the disk reports. */
package io.tessera.guardian.cache;

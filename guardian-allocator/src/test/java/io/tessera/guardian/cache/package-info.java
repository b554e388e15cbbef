/** What a cache promises: whole entries or none, whichever process dies, whatever the disk says. */
package io.tessera.guardian.cache;

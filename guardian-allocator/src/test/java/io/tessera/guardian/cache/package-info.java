/** What a cache promises: whole entries or none, whoever dies, whatever the disk says. */
package io.tessera.guardian.cache;

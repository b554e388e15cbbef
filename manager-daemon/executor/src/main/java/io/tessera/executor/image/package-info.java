/**
 * Module images in files of programs. They are handed over as descriptors, read once for all clients, and kept, because
 * frameworks load gigabytes of them at every start (RELAY.md, section 8).
 */
package io.tessera.executor.image;

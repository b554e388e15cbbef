/** Entries about the device, contexts, streams, events and errors. */
package io.tessera.software.driver.entry.context;
